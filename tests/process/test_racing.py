"""Several programs at once on the same files: the last one wins, nobody sees a mix."""

import hashlib
import pathlib
import tempfile
import threading
from collections import Counter

import models
import process

ROUNDS = 100 if process.LONG else 3
WRITERS = 3
SAMPLES = 40 if process.LONG else 10


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Racing(process.Case):
    quick = True

    def setUp(self):
        super().setUp()
        for i in range(WRITERS):
            # Of about the same size, so that they come to their end together.
            models.save(self.folder / f"in{i}.onnx", models.sums(4, (1 << 18) + 64 * i, 1.0 + i))
        (self.folder / "out").mkdir()
        self.out = self.folder / "out" / "model.onnx"

    def wholes(self, *options):
        """{digest of the model: digest of its data file} for each source alone."""
        found = {}
        for i in range(WRITERS):
            folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
            self.baryon("copy", f"in{i}.onnx", folder / "model.onnx", *options)
            data = folder / "w.bin"
            found[digest(folder / "model.onnx")] = digest(data) if data.exists() else None
        return found

    def race(self, *options):
        words = ["out/model.onnx", *options]
        running = [
            process.start("copy", f"in{i}.onnx", *words, cwd=self.folder) for i in range(WRITERS)
        ]
        texts = [one.communicate(timeout=process.SECONDS)[1] for one in running]
        return [one.returncode for one in running], texts

    def look(self, wholes):
        data = self.folder / "out" / "w.bin"
        there = (digest(self.out), digest(data) if data.exists() else None)
        self.assertIn(there, wholes.items())
        return there[0]

    def race_often(self, *options):
        wholes = self.wholes(*options)
        winners = Counter()
        for _ in range(ROUNDS):
            statuses, texts = self.race("--force", *options)
            self.assertEqual(statuses, [0] * WRITERS, texts)
            winners.update([self.look(wholes)])
            self.assertFalse([name for name in self.files(self.out.parent) if name[0] == "."])
        print(f"{ROUNDS} rounds {options}: won {sorted(winners.values())}", flush=True)

    def test_one_file(self):
        self.race_often()

    def test_with_a_data_file(self):
        self.race_often("--external", "w.bin")

    def test_without_force_one_of_them_writes(self):
        for options in ((), ("--external", "w.bin")):
            wholes = self.wholes(*options)
            for _ in range(ROUNDS):
                for path in self.out.parent.iterdir():
                    path.unlink()
                statuses, texts = self.race(*options)
                self.assertEqual(sorted(statuses), [0, 2, 2], texts)
                for status, text in zip(statuses, texts):
                    self.assertEqual(b"exists" in text, status == 2, text)
                self.look(wholes)
                self.assertFalse([name for name in self.files(self.out.parent) if name[0] == "."])

    def test_readers_see_what_belongs_together(self):
        """A reader at any time gets a model with its own data, or hears that it changed."""
        options = ("--force", "--external", "w.bin")
        wholes = set()
        for i in range(WRITERS):
            self.baryon("copy", f"in{i}.onnx", "out/model.onnx", *options)
            self.baryon("copy", "out/model.onnx", "seen.onnx", "--inline", "--force")
            wholes.add(digest(self.folder / "seen.onnx"))
        counts, stop = Counter(), threading.Event()

        def write():
            while not stop.is_set():
                self.race(*options)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in process.turns(lambda: counts.total() >= ROUNDS * 4 and counts[0]):
                words = ("copy", "out/model.onnx", "seen.onnx", "--inline", "--force")
                done = process.run(*words, cwd=self.folder)
                self.assertIn(done.status, (0, 3), done.err)
                counts.update([done.status])
                if done.status == 0:
                    self.assertIn(digest(self.folder / "seen.onnx"), wholes)
                else:
                    self.assertRegex(done.err, b"(?i)no such file|changed|cut short")
        finally:
            stop.set()
            writer.join()
        print(f"read while being replaced: {dict(counts)}", flush=True)

    def test_runs_into_one_folder(self):
        """Two runs with the same names of samples: every file is whole, of one or the other."""
        words = ("--random", str(SAMPLES), "--force", "--out", "out", "--quiet")
        wholes = []
        for i in range(2):
            self.baryon("run", f"in{i}.onnx", *words)
            wholes.append({name: digest(self.out.parent / name) for name in self.files("out")})
        running = [process.start("run", f"in{i}.onnx", *words, cwd=self.folder) for i in range(2)]
        for one in running:
            _, err = one.communicate(timeout=process.SECONDS)
            self.assertEqual(one.returncode, 0, err)
        self.assertEqual(self.files("out"), sorted(wholes[0]))
        for name in self.files("out"):
            self.assertIn(digest(self.out.parent / name), [whole[name] for whole in wholes])

    def files(self, folder=""):
        return super().files(self.folder / folder)


if __name__ == "__main__":
    process.main()
