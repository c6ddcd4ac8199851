"""Quantizing a language model: kill -9, and a disk that is full.

The folder is there when it is whole. What was finished before is not done again, and the bytes
are those of a run that nothing disturbed.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

import process
import test_disk

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
try:
    import llm_weights
except ImportError:
    llm_weights = None  # ml_dtypes is not there

KILLS = 40 if process.LONG else 4
OPTIONS = ("--scheme", "uint4_wo_32", "--shard-size", "60kB")


@unittest.skipUnless(llm_weights, "numpy and ml_dtypes are missing")
class Model(process.Case):
    quick = True

    def setUp(self):
        super().setUp()
        llm_weights.write_model(self.folder / "model")

    def contents(self, name):
        return {path.name: path.read_bytes() for path in sorted((self.folder / name).iterdir())}

    def quantize(self, out):
        return process.run("llm", "quantize", "model", "-o", out, *OPTIONS, cwd=self.folder)


class Kill(Model):
    def killed_at(self, part):
        """Kills when the unfinished folder has some files; whether it was still there."""
        running = process.start("llm", "quantize", "model", "-o", "out", *OPTIONS, cwd=self.folder)
        folder = self.folder / "out.part"
        while running.poll() is None:
            if folder.is_dir() and len(list(folder.iterdir())) >= part:
                break
            time.sleep(0.0002)
        running.send_signal(signal.SIGKILL)
        running.communicate()
        return running.returncode == -signal.SIGKILL

    def test_resume(self):
        self.assertEqual(self.quantize("whole").status, 0)
        wanted = self.contents("whole")
        for part in range(1, KILLS + 1):
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            if self.killed_at(part):
                self.assertFalse((self.folder / "out").exists())
                # What a writer leaves where files cannot be without a name; its target comes no more.
                (self.folder / f"out.part/.baryon-{part:016x}-0").write_bytes(b"left")
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            done = self.quantize("out")
            self.assertEqual(done.status, 0, done.err)
            self.assertEqual(self.contents("out"), wanted)
            self.assertFalse((self.folder / "out.part").exists())

    def test_other_options(self):
        """Nothing of a killed run with other options gets into the result."""
        self.assertEqual(self.quantize("whole").status, 0)
        self.killed_at(1)
        part = self.folder / "out.part"
        part.mkdir(exist_ok=True)
        for name in ("model-00009-of-00009.safetensors", ".baryon-00000000000000aa-3"):
            (part / name).write_bytes(b"left")
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        done = process.run("llm", "quantize", "model", "-o", "out", *OPTIONS, "--search", "minmax", cwd=self.folder)
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual(set(self.contents("out")), set(self.contents("whole")))


@test_disk.mounts
class Disk(Model):
    def test_full_disk(self):
        self.assertEqual(self.quantize("whole").status, 0)
        wanted = self.contents("whole")
        disk = self.folder / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k", "none", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", disk], check=False)
        done = self.quantize("disk/out")
        self.assertNotEqual(done.status, 0)
        self.assertIn(b"space", done.err)
        self.assertFalse((disk / "out").exists())
        subprocess.run(["mount", "-o", "remount,size=4m", disk], check=True)
        done = self.quantize("disk/out")
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual(self.contents("disk/out"), wanted)


if __name__ == "__main__":
    if not os.environ.get(test_disk.INSIDE):
        test_disk.enter_namespace()
    process.main()
