"""A model, or its data file, that changes while it is in use.

Whatever happens to the file, the program works on the old bytes or says that the file
changed (exit 3). To change it at a moment that counts, the program is stopped after
it has mapped the file, and goes on afterwards.
"""

import os
import random
import re
import shutil
import signal
import time
from collections import Counter

import models
import process

TURNS = 40 if process.LONG else 1
LAYERS, SIZE = 6, 1 << (20 if process.LONG else 18)  # 24 MB of weights, or 6
MIDDLE = LAYERS * SIZE // 2


def cut(size):
    def change(path, _):
        os.truncate(path, size if size >= 0 else path.stat().st_size + size)

    return change


def grow(path, _):
    with open(path, "ab") as file:
        file.write(b"\0" * 5000)


def write_over(path, other):
    with open(path, "r+b") as file:
        file.write(other.read_bytes())


def write_anew(path, other):
    shutil.copyfile(other, path)


def replace(path, other):
    copy = path.with_suffix(".other")
    shutil.copyfile(other, copy)
    copy.rename(path)


def remove(path, _):
    path.unlink()


# name | what happens to the file | whether the old bytes are still there for us
CHANGES = {
    "emptied": (cut(0), False),
    "cut in the middle": (cut(MIDDLE), False),
    "cut by a byte": (cut(-1), False),
    "grown": (grow, False),
    "written over": (write_over, False),
    "written anew": (write_anew, False),
    "replaced": (replace, True),
    "removed": (remove, True),
}
WAYS = {
    "inspect": ["inspect", "use/in.onnx"],
    "nodes": ["inspect", "use/in.onnx", "--nodes", "--json"],
    "check": ["check", "use/in.onnx"],
    "copy": ["copy", "use/in.onnx", "out/in.onnx"],
    "rename": ["copy", "use/in.onnx", "out/in.onnx", "--rename", "x=input"],
    "external": ["copy", "use/in.onnx", "out/in.onnx", "--external", "w.bin"],
    "run": ["run", "use/in.onnx", "--random", "2", "--out", "out", "--quiet"],
}


class Changing(process.Case):
    quick = True

    def setUp(self):
        super().setUp()
        for name in ("old", "new", "use", "out"):
            (self.folder / name).mkdir()
        models.save(self.folder / "old" / "in.onnx", models.sums(LAYERS, SIZE, 2.0))
        models.save(self.folder / "new" / "in.onnx", models.sums(LAYERS, SIZE, 3.0))

    def reset(self):
        shutil.rmtree(self.folder / "out")
        (self.folder / "out").mkdir()
        shutil.copytree(self.folder / "old", self.folder / "use", dirs_exist_ok=True)
        for path in (self.folder / "use").iterdir():
            if not (self.folder / "old" / path.name).exists():
                path.unlink()

    def result(self, out):
        """What a run gave: text, and files by name."""
        folder = self.folder / "out"
        out = re.sub(rb"samples in .*", b"samples", out)  # the time it took
        return out, {name: (folder / name).read_bytes() for name in self.files(folder)}

    def stop_when_mapped(self, words, name, seconds):
        """Starts the program and stops it some time after the file is in its memory."""
        running = process.start(*words, cwd=self.folder)

        def is_mapped():
            with open(f"/proc/{running.pid}/maps", encoding="utf-8", errors="replace") as file:
                return f"/use/{name}" in file.read()

        if process.wait_until(running, is_mapped):
            time.sleep(random.random() ** 3 * seconds)  # the beginning is what counts
            running.send_signal(signal.SIGSTOP)
        return running

    def change_often(self, file):
        """Until a change came in time and another one too late."""
        counts = Counter()
        for _ in process.turns(lambda: counts[0] and counts[3]):
            for way, words in WAYS.items():
                self.reset()
                done = self.baryon(*words)
                whole, seconds = self.result(done.out), done.seconds
                for name in [name for name in CHANGES for _ in range(TURNS)]:
                    with self.subTest(way, change=name):
                        counts[self.change_once(words, file, name, whole, seconds)] += 1
        print(f"{file}: {dict(counts)}", flush=True)

    def change_once(self, words, file, name, whole, seconds):
        """The status with which the program ends."""
        change, keeps = CHANGES[name]
        self.reset()
        running = self.stop_when_mapped(words, file, seconds)
        change(self.folder / "use" / file, self.folder / "new" / file)
        running.send_signal(signal.SIGCONT)
        out, err = running.communicate(timeout=process.SECONDS)
        self.judge(running.returncode, err.decode(), self.result(out), whole, keeps)
        return running.returncode

    def judge(self, status, err, result, whole, keeps):
        if status == 0:
            self.assertTrue(result == whole, "success with another result")
            return
        self.assertEqual(status, 3, err)
        self.assertFalse(keeps, err)
        self.assertRegex(err, "^baryon: .*(changed while it was in use|was truncated)")
        # Of a run, samples that were done before are there.
        self.assertLessEqual(result[1].items(), whole[1].items())

    def test_model(self):
        self.change_often("in.onnx")

    def test_data_file(self):
        for name in ("old", "new"):
            folder = self.folder / name
            self.baryon("copy", folder / "in.onnx", folder / "out.onnx", "--external", "d.bin")
            (folder / "out.onnx").rename(folder / "in.onnx")
        self.change_often("d.bin")


if __name__ == "__main__":
    process.main()
