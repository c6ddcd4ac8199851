"""kill -9 while a model is copied over another one.

Whenever it happens, the target is the old model or the whole new one. Where a data file
changes with it, there may be no model for a moment, but never one beside data that is
not its own. The next run leaves nothing else behind.
"""

import hashlib
import shutil
import signal
import subprocess
from collections import Counter

import models
import process

KILLS = 200 if process.LONG else 6  # in each of the two ways
LAYERS, SIZE = 15, 1 << 20  # 60 MB of weights


class Kill(process.Case):
    quick = True

    def setUp(self):
        super().setUp()
        models.save(self.folder / "after.onnx", models.sums(LAYERS, SIZE, 2.0))
        models.save(self.folder / "before.onnx", models.sums(LAYERS - 1, SIZE - 64, 3.0))
        self.target = self.folder / "target"

    def make(self, source, *options):
        """Whole outputs in a folder named after their source; how long that takes."""
        folder = self.folder / source.removesuffix(".onnx")
        folder.mkdir()
        return folder, self.baryon("copy", source, folder / "model.onnx", *options).seconds

    def restore(self, old):
        shutil.rmtree(self.target, ignore_errors=True)
        shutil.copytree(old, self.target)

    def hashes(self, folder):
        """Of what a folder shows, and the number of its hidden files."""
        shown = [name for name in self.files(folder) if not name.startswith(".baryon-")]
        there = {}
        for name in shown:
            with open(folder / name, "rb") as file:
                there[name] = hashlib.file_digest(file, "sha256").hexdigest()
        return there, len(self.files(folder)) - len(shown)

    def look(self, old, new):
        """Which of the two is there; what is neither is a failure."""
        there, strays = self.hashes(self.target)
        self.assertLessEqual(strays, 2 * len(old) + 1)
        if there in (old, new):
            return ("new" if there == new else "old"), strays
        if "model.onnx" not in there and len(old) > 1:
            return "none", strays
        self.fail(f"a mix: {there}, old {old}, new {new}")

    def kill_often(self, *options):
        before, _ = self.make("before.onnx", *options)
        after, seconds = self.make("after.onnx", *options)
        old, new = self.hashes(before)[0], self.hashes(after)[0]
        self.assertEqual(set(old), set(new))
        self.restore(before)
        counts, moment = Counter(), process.Moment(seconds)
        words = ("copy", "after.onnx", "target/model.onnx", "--force", *options)
        for turn in process.turns(lambda: counts["killed"] >= KILLS):
            running = process.start(*words, cwd=self.folder)
            moment.wait()
            running.kill()
            running.communicate()
            found, strays = self.look(old, new)
            moment.learn(found != "old")
            counts.update([found])
            counts["killed"] += running.returncode == -signal.SIGKILL
            counts["with strays"] += strays > 0
            if process.LONG or turn % 5 == 4:
                self.baryon(*words)
                self.assertEqual(self.hashes(self.target), (new, 0))
                found = "new"
            if found != "old":
                self.restore(before)
        print(f"{turn + 1} runs of about {moment.seconds:.2f} s: {dict(counts)}", flush=True)

    def test_every_system_call(self):
        """A kill at each call of the replacement, then a run that fails, then one that succeeds."""
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        models.save(self.folder / "a.onnx", models.sums(2, 2048, 2.0))
        models.save(self.folder / "b.onnx", models.sums(2, 1984, 3.0))
        options = ("--external", "weights.bin", "--external-min", "64")
        old = self.hashes(self.make("b.onnx", *options)[0])[0]
        new = self.hashes(self.make("a.onnx", *options)[0])[0]
        kills = 0
        for call in ("openat", "fsync", "renameat", "renameat2", "unlinkat", "unlink", "close", "flock"):
            for number in range(1, 400, 1 if process.LONG or call.startswith(("rename", "unlink")) else 9):
                self.restore(self.folder / "b")
                inject = f"inject={call}:signal=SIGKILL:when={number}"
                words = [process.BARYON, "copy", "a.onnx", "target/model.onnx", "--force", *options]
                killed = subprocess.run(["strace", "-f", "-qq", "-o", "trace", "-e", inject, *words], cwd=self.folder,
                                        check=False, capture_output=True)
                if killed.returncode == 0:
                    break
                if killed.returncode != -signal.SIGKILL:
                    self.skipTest(f"strace cannot trace here: {killed.stderr[-200:]}")
                kills += 1
                failed = process.run("copy", "missing.onnx", "target/model.onnx", "--force", *options, cwd=self.folder)
                self.assertNotEqual(failed.status, 0)
                self.baryon("check", "target/model.onnx")
                self.assertIn(self.hashes(self.target)[0], (old, new))
                self.baryon(*words[1:])
                self.assertEqual(self.hashes(self.target), (new, 0))
        print(f"{kills} kills", flush=True)
        self.assertGreater(kills, 10)

    def test_one_file(self):
        self.kill_often()

    def test_with_a_data_file(self):
        self.kill_often("--external", "weights.bin")


if __name__ == "__main__":
    process.main()
