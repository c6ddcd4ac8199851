"""Quantizing a language model: kill -9, a disk that is full, a source that changes.

The folder or the GGUF file is there when it is whole. What was finished before is not done again,
and the bytes are those of a run that nothing disturbed.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock

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
            killed = self.killed_at(part)
            if killed and (self.folder / "out").exists():  # the kill came after the name; a checkpoint may be left
                found = {name: content for name, content in self.contents("out").items() if name[0] != "."}
                self.assertEqual(found, wanted)
            elif killed:
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


class Signal(Model):
    """SIGINT while layers are solved on texts."""

    LAYERS = 6

    def setUp(self):
        patch = unittest.mock.patch
        with patch.object(llm_weights, "LAYERS", self.LAYERS), patch.dict(llm_weights.CONFIG, num_hidden_layers=self.LAYERS):
            super().setUp()
        ids = llm_weights.np.arange(4096) * 7919 % 31 % 13
        llm_weights.np.save(self.folder / "ids.npy", ids.astype(llm_weights.np.uint16))
        self.words = (*OPTIONS, "--text", "ids.npy", "--length", "128", "--windows", "16", "-q")

    def recorded(self):
        """Bytes of layers that are done, of a run that goes on or was ended."""
        return sum(path.stat().st_size for path in (self.folder / "out.part").glob(".baryon-layers"))

    def interrupted_after(self, size):
        """Status and messages of a run that is ended when more than so much is recorded."""
        running = process.start("llm", "quantize", "model", "-o", "out", *self.words, cwd=self.folder)
        process.wait_until(running, lambda: process.handles(running, signal.SIGINT) and self.recorded() > size)
        running.send_signal(signal.SIGINT)
        told = running.communicate(timeout=process.SECONDS)[1]
        return running.returncode, told

    def test_resume(self):
        done = process.run("llm", "quantize", "model", "-o", "whole", *self.words, cwd=self.folder)
        self.assertEqual(done.status, 0, done.err)
        met, before = 0, 0
        for _ in process.turns(lambda: met >= 2):
            status, told = self.interrupted_after(before)
            if status == 0:  # it came behind the last byte
                self.assertEqual(self.contents("out"), self.contents("whole"))
                shutil.rmtree(self.folder / "out")
                met, before = 0, 0
                continue
            self.assertEqual(status, 130, told)
            self.assertFalse((self.folder / "out").exists())
            self.assertGreater(self.recorded(), before)
            met, before = met + 1, self.recorded()
        done = process.run("llm", "quantize", "model", "-o", "out", *self.words, cwd=self.folder)
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual(self.contents("out"), self.contents("whole"))
        self.assertFalse((self.folder / "out.part").exists())


class Changes(Model):
    def changed(self):
        """Stops the program when it has begun to write, adds a byte to its source and lets it go on."""
        running = process.start("llm", "quantize", "model", "-o", "out", *OPTIONS, cwd=self.folder)
        if process.wait_until(running, (self.folder / "out.part").is_dir):
            running.send_signal(signal.SIGSTOP)
            with open(self.folder / "model/model.safetensors", "ab") as file:
                file.write(b"\0")
            running.send_signal(signal.SIGCONT)
        _, err = running.communicate(timeout=process.SECONDS)
        return running.returncode, err.decode()

    def test_source(self):
        """Whole and of the old bytes, or refused and not there."""
        self.assertEqual(self.quantize("whole").status, 0)
        source = (self.folder / "model/model.safetensors").read_bytes()
        wanted, refused = self.contents("whole"), 0
        for _ in process.turns(lambda: refused):
            (self.folder / "model/model.safetensors").write_bytes(source)
            for name in ("out", "out.part"):
                shutil.rmtree(self.folder / name, ignore_errors=True)
            status, err = self.changed()
            if status == 0:
                self.assertEqual(self.contents("out"), wanted)
                continue
            refused += 1
            self.assertEqual(status, 3, err)
            self.assertIn("model/model.safetensors: changed while it was in use (size ", err)
            self.assertFalse((self.folder / "out").exists())


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


@test_disk.mounts
class DiskOnTexts(Model):
    def test_full_disk(self):
        """Full in different layers: what was solved is taken again, with more threads and with a stream in a file too."""
        ids = llm_weights.np.arange(640) * 7919 % 31 % 13
        llm_weights.np.save(self.folder / "ids.npy", ids.astype(llm_weights.np.uint16))
        words = (*OPTIONS, "--text", "ids.npy", "--length", "16", "--windows", "4", "-q")
        done = process.run("llm", "quantize", "model", "-o", "whole", *words, cwd=self.folder)
        self.assertEqual(done.status, 0, done.err)
        disk = self.folder / "disk"
        disk.mkdir()
        for size, more in (("48k", ()), ("112k", ("--threads", "2")), ("176k", ("--stream", "spill"))):
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], check=True)
            self.addCleanup(subprocess.run, ["umount", "--lazy", disk], check=False, stderr=subprocess.DEVNULL)
            done = process.run("llm", "quantize", "model", "-o", "disk/out", *words, *more, cwd=self.folder)
            self.assertNotEqual(done.status, 0, size)
            self.assertIn(b"space", done.err)
            self.assertFalse((disk / "out").exists())
            subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
            done = process.run("llm", "quantize", "model", "-o", "disk/out", *words, *more, cwd=self.folder)
            self.assertEqual(done.status, 0, done.err)
            self.assertEqual(self.contents("disk/out"), self.contents("whole"))
            subprocess.run(["umount", "--lazy", disk], check=True)


class GgufRuns(Model):
    """One file, and parts of at most 60 kB."""

    LAYOUTS = ((), ("--shard-size", "60kB"))

    def words(self, out, *options):
        return ("llm", "convert", "model", "-o", out, "--no-tokenizer", "--type", "q8_0", *options)

    def made(self, *options, out="out.gguf"):
        done = process.run(*self.words(out, *options), cwd=self.folder)
        self.assertEqual(done.status, 0, done.err)
        return self.files(out)

    def files(self, out="out.gguf"):
        """By the end of the name: .gguf or -00001-of-00007.gguf."""
        stem = (self.folder / out).name.removesuffix(".gguf")
        found = (self.folder / out).parent.glob(f"{stem}*.gguf")
        return {path.name.removeprefix(stem): path.read_bytes() for path in found}

    def whole(self, *options):
        whole = self.made(*options, out="whole.gguf")
        for path in self.folder.glob("whole*"):
            path.unlink()
        return whole

    def clear(self):
        for path in self.folder.glob("out*.gguf"):
            path.unlink()

    def killed(self, records, *options):
        """Kills when so many tensors may be recorded."""
        running = process.start(*self.words("out.gguf", *options), cwd=self.folder)
        journal = self.folder / "out.gguf.part/.baryon-tensors"
        while running.poll() is None:
            if journal.exists() and journal.stat().st_size >= 48 + 32 * records:
                break
            time.sleep(0.0002)
        running.send_signal(signal.SIGKILL)
        running.communicate()
        return running.returncode == -signal.SIGKILL


class Gguf(GgufRuns):
    def test_resume(self):
        for options in self.LAYOUTS:
            wanted = self.whole(*options)
            self.assertEqual(len(wanted) > 1, bool(options))
            for records in range(KILLS):
                self.clear()
                if self.killed(records, *options):
                    # The first part names the others: without it nothing is read, and it comes last.
                    found = self.files()
                    if any(name in (".gguf", f"-00001-of-{len(wanted):05}.gguf") for name in found):
                        self.assertEqual(found, wanted)  # the kill came after all names
                self.assertEqual(self.made(*options), wanted)
                self.assertFalse((self.folder / "out.gguf.part").exists())

    def test_other_options_and_sources(self):
        """Nothing of a killed run gets into the result of another one."""
        for change in ("type", "parts", "weights"):
            self.killed(1)
            self.clear()  # it may have been done before
            options = ("--type", "q4_0") if change == "type" else self.LAYOUTS[1] if change == "parts" else ()
            if change == "weights":
                weights = self.folder / "model/model.safetensors"
                content = bytearray(weights.read_bytes())
                content[-1] ^= 1
                weights.write_bytes(content)
            self.assertEqual(self.made(*options), self.whole(*options))
            self.assertFalse((self.folder / "out.gguf.part").exists())

    def test_two_at_once(self):
        """The second one is told so, or comes so late that it does all again."""
        first = process.start(*self.words("out.gguf"), cwd=self.folder)
        done = process.run(*self.words("out.gguf"), cwd=self.folder)
        first.communicate()
        self.assertEqual(first.returncode if done.status else done.status, 0)
        if done.status:
            self.assertIn(b"another process writes to it", done.err)
        self.assertEqual(self.files(), self.whole())


@test_disk.mounts
class GgufDisk(GgufRuns):
    def test_full_disk(self):
        """Of parts, those that had room stay; one file has no room from the start."""
        for options in self.LAYOUTS:
            wanted = self.whole(*options)
            disk = self.folder / "disk"
            disk.mkdir(exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k", "none", disk], check=True)
            self.addCleanup(subprocess.run, ["umount", "--lazy", disk], check=False)
            done = process.run(*self.words("disk/out.gguf", *options), cwd=self.folder)
            self.assertNotEqual(done.status, 0)
            self.assertIn(b"space", done.err)
            self.assertEqual(self.files("disk/out.gguf"), {})
            self.assertEqual((disk / "out.gguf.part").exists(), bool(options))
            subprocess.run(["mount", "-o", "remount,size=4m", disk], check=True)
            self.assertEqual(self.made(*options, out="disk/out.gguf"), wanted)
            subprocess.run(["umount", "--lazy", disk], check=True)


if __name__ == "__main__":
    if not os.environ.get(test_disk.INSIDE):
        test_disk.enter_namespace()
    process.main()
