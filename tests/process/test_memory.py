"""Memory: little for big models, none for what hostile files claim, and what happens without.

This program imports nothing big: the peak that the system reports for a program that
was started counts from what the starting one had.
"""

import os
import pathlib
import random
import re
import resource
import signal
import struct
import sys
import tempfile
import time
from collections import Counter

import models
import process
from models import field, number

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import llm_files  # noqa: E402

MIB = 1 << 20
BIG_PEAK = 64 * MIB  # for a model of 500 MB
HOSTILE_PEAK = 50 * MIB
RUNTIME_PEAK = 128 * MIB  # what ONNX Runtime takes for itself
WRITE = ("-q", "--force", "-o")
HUGE = (1 << 31, (1 << 32) - 1, 1 << 40, 1 << 48, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)


class Big(process.Case):
    def test_inspect_and_copy_of_500_mb(self):
        models.save(self.folder / "in.onnx", models.sums(5, 25 << 20, holes=True))
        peaks = {}
        ways = {
            "inspect": ["inspect", "in.onnx"],
            "copy": ["copy", "in.onnx", "out.onnx"],
            "rename": ["copy", "in.onnx", "out.onnx", "--force", "--rename", "x=input"],
            "external": ["copy", "in.onnx", "out.onnx", "--force", "--external", "w.bin"],
            "inline": ["copy", "out.onnx", "back.onnx", "--inline"],
        }
        for name in ways if process.LONG else ("inspect", "copy"):
            peaks[name] = self.baryon(*ways[name]).peak
        print({name: f"{peak / MIB:.0f} MiB" for name, peak in peaks.items()}, flush=True)
        for name, peak in peaks.items():
            self.assertLess(peak, BIG_PEAK, name)


def hostile_files():
    """(name, bytes): small files in which some number is far too big."""
    weight = models.tensor("w", [2], struct.pack("<2f", 1, 2))
    add = models.node("Add", ["x", "w"], ["y"])
    ports = [models.port("x", [2])], [models.port("y", [2])]
    plain = b"".join(models.model([add], [weight], *ports))
    for size in HUGE:
        length = models.varint(size)
        yield f"model of {size}", b"\x08\x08\x3a" + length + plain[2:]
        for what, tag in (("tensor", 0x2A), ("node", 0x0A), ("name", 0x12)):
            yield f"{what} of {size}", b"\x08\x08" + b"".join(field(7, bytes([tag]) + length))
        sized = [models.tensor("w", [size], b"\0" * 8)]
        yield f"dimension {size}", b"".join(models.model([add], sized, *ports))
        squared = [models.tensor("w", [size, size], b"\0" * 8)]
        yield f"dimensions {size} twice", b"".join(models.model([add], squared, *ports))
        typed = [[*number(1, size), *number(2, 1), *field(8, "w"), *field(4, length)]]
        yield f"packed floats for {size}", b"".join(models.model([add], typed, *ports))
        yield f"port of {size}", b"".join(
            models.model([add], [weight], [models.port("x", [size] * 4)], ports[1])
        )
        shape = models.tensor("w", [2], struct.pack("<2Q", size, size), models.INT64)
        fill = models.node("ConstantOfShape", ["w"], ["y"])
        yield f"ConstantOfShape {size}", b"".join(models.model([fill], [shape], *ports))
        for key in ("offset", "length"):
            yield f"external {key} {size}", external(add, ports, {key: str(size)})


def crowded_files():
    """(name, bytes): files of many parts that are smaller than what stands for them in memory."""
    yield "empty nodes", b"".join(field(7, b"\x0a\x00" * 500_000))
    yield "empty initializers", b"".join(field(7, b"\x2a\x00" * 500_000))
    yield "dimensions", b"".join(field(7, field(5, b"\x08\x01" * 500_000)))
    nested = b""
    for _ in range(5000):
        nested = b"".join(field(1, field(5, field(6, nested))))
    yield "graphs in graphs", b"".join(field(7, nested))


def external(add, ports, more):
    rows = {"location": "w.bin", **more}
    pairs = [piece for row in rows.items() for piece in field(13, [*field(1, row[0]), *field(2, row[1])])]
    weight = [*number(1, 2), *number(2, 1), *field(8, "w"), *pairs, *number(14, 1)]
    return b"".join(models.model([add], [weight], *ports))


class Hostile(process.Case):
    def test_small_files_that_claim_much(self):
        (self.folder / "w.bin").write_bytes(b"\0" * 8)
        commands = (["inspect"], ["check"], ["copy", "-f", "--inline"], ["run", "--random", "1"])
        peaks, statuses = [], Counter()
        for name, content in hostile_files():
            (self.folder / "h.onnx").write_bytes(content)
            for command, *more in commands if process.LONG else commands[:3]:
                words = [command, "h.onnx", *(["out.onnx"] if command == "copy" else []), *more]
                with self.subTest(name, command=command):
                    done = process.run(*words, cwd=self.folder)
                    said = done.err.decode()
                    runs = command == "run"  # what the model itself asks for, the engine refuses
                    self.assertIn(done.status, (0, 2, 3, 4, 5, 6) if runs else (0, 3, 4), said)
                    self.assertLess(done.cpu, 20, said)
                    self.assertLess(done.peak, HOSTILE_PEAK + runs * RUNTIME_PEAK, said)
                    statuses[done.status] += 1
                    peaks.append(done.peak)
        worst = max(peaks) / MIB
        print(f"{len(peaks)} runs, {worst:.0f} MiB at most, statuses {dict(statuses)}", flush=True)

    def test_many_small_parts(self):
        for name, content in crowded_files():
            (self.folder / "h.onnx").write_bytes(content)
            for command in ("inspect", "check"):
                with self.subTest(name, command=command):
                    done = process.run(command, "h.onnx", cwd=self.folder)
                    self.assertIn(done.status, (3, 5), done.err)
                    if done.status == 5:
                        self.assert_says(done, "the limit for a file of this size")
                    self.assertLess(done.peak, (64 + 32) * MIB + 32 * len(content), done.err)

    def test_other_files_that_claim_much(self):
        """Arrays and pictures: headers that promise more than there is."""
        shape = [1, 3, 8, 8]
        relu = models.node("Relu", ["x"], ["y"])
        ports = [models.port("x", shape)], [models.port("y", shape)]
        models.save(self.folder / "m.onnx", models.model([relu], [], *ports))
        for size in HUGE:
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({size}, {size}), }}\n"
            npy = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            long_header = b"\x93NUMPY\x02\x00" + struct.pack("<I", size & 0xFFFFFFFF)
            side = struct.pack(">I", size & 0x7FFFFFFF)
            png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + side * 2 + b"\x08\x02\0\0\0" + b"\0" * 4
            for name, content in (("a.npy", npy), ("b.npy", long_header), ("c.png", png)):
                (self.folder / name).write_bytes(content)
                with self.subTest(name, size=size):
                    done = process.run("run", "m.onnx", "--data", name, cwd=self.folder)
                    self.assertIn(done.status, (3, 4), done.err)
                    self.assertLess(done.peak, RUNTIME_PEAK + HOSTILE_PEAK)


class Limited(process.Case):
    """RLIMIT_AS: every amount of memory is enough, or refused with a message."""

    def setUp(self):
        super().setUp()
        models.save(self.folder / "m.onnx", models.sums(4, 1 << 20, 2.0))
        models.save(self.folder / "nodes.onnx", models.chain(5000))

    @staticmethod
    def limit(size):
        return {"preexec_fn": process.limited(resource.RLIMIT_AS, size)}

    def least(self):
        """With how much the program starts at all: below, the system's loader ends it, with a message
        or, where memory lacks for its own storage of threads (init_tls), by a signal."""
        low, high = 0, 1 << 30
        while high - low > 64 << 10:
            middle = (low + high) // 2
            done = process.run("version", "-q", **self.limit(middle))
            low, high = (middle, high) if done.status in (127, -signal.SIGSEGV) else (low, middle)
        return high

    def sweep(self, sizes, *words):
        statuses = Counter()
        for size in [*sizes, resource.RLIM_INFINITY]:
            with self.subTest(size=size, words=words):
                done = process.run(*words, cwd=self.folder, **self.limit(size))
                statuses[done.status] += 1
                self.assertIn(done.status, (0, 5), (size, done.err))
                said = b"baryon: .*(memory|map|bad_alloc|thread)" if done.status else b"^$"
                self.assertRegex(done.err, said)
                self.assertFalse([name for name in self.files() if name.startswith(".baryon")])
        print(f"{' '.join(words)}: {dict(statuses)}", flush=True)
        self.assertLessEqual({0, 5}, set(statuses))

    def test_commands_without_an_engine(self):
        least = self.least()
        step = MIB // 4 if process.LONG else 3 * MIB
        sizes = range(least, least + 30 * MIB, step)
        print(f"starts with {least / MIB:.1f} MiB", flush=True)
        for model in ("m.onnx", "nodes.onnx"):
            self.sweep(sizes, "inspect", model)
            self.sweep(sizes, "check", model)
            self.sweep(sizes, "copy", model, "out.onnx", "--force")
        self.sweep(sizes, "copy", "m.onnx", "out.onnx", "--force", "--external", "w.bin")

    def test_run(self):
        """ONNX Runtime does not survive every allocation that fails: it is not to meet one."""
        least = self.least()
        models.save(self.folder / "m.onnx", models.sums(2, 1 << 18, 2.0))
        steps = (MIB // 8, MIB // 4) if process.LONG else (12 * MIB, 12 * MIB)
        words = ("run", "m.onnx", "--random", "2", "-q", "--threads")
        self.sweep(range(least, least + 100 * MIB, steps[0]), *words, "1")
        self.sweep(range(least, least + 160 * MIB, steps[1]), *words, "4")

    def test_calibrate_and_quantize(self):
        """Sessions one after the other, and two side by side."""
        least = self.least()
        models.save(self.folder / "m.onnx", models.convolutions(9))
        step = MIB // 2 if process.LONG else 24 * MIB
        samples = ("--random", "20", "--threads", "2")
        self.sweep(range(least, least + 160 * MIB, step), "calibrate", "m.onnx", *WRITE, "a.stats", *samples)
        words = ("quantize", "m.onnx", *WRITE, "q.onnx", "--preset")
        self.sweep(range(least, least + 200 * MIB, step), *words, "XINT8", *samples)
        self.sweep(range(least, least + 40 * MIB, step // 4), *words, "UINT8_DYNAMIC_QUANT", "--threads", "2")


class LanguageModel(process.Case):
    """--max-memory of llm quantize, beside what is in memory while it runs and lies in no file."""

    def quantize(self, out, *more):
        """Status, messages, the most bytes."""
        given = ("--scheme", "int4_wo_per_channel", "--text", "text", "--windows", "64", "--threads", "1")
        with tempfile.TemporaryFile() as err:
            running = process.start("llm", "quantize", "model", "-o", out, *given, *more, cwd=self.folder, stderr=err)
            most, status = 0, pathlib.Path(f"/proc/{running.pid}/status")
            while running.poll() is None:
                found = re.search(r"RssAnon:\s*([0-9]+) kB", status.read_text())
                most = max(most, int(found[1]) * 1024 if found else 0)
                time.sleep(0.001)
            running.communicate()
            err.seek(0)
            return running.returncode, err.read(), most

    def test_limit(self):
        os.mkdir(self.folder / "model")
        llm_files.byte_decoder(self.folder / "model", 2**-20, hidden=64, inner=256)
        words = "the quick brown fox jumps over the lazy dog and packs five dozen liquor jugs into a box".split()
        rng = random.Random(3)
        (self.folder / "text").write_text(" ".join(rng.choice(words) for _ in range(8000)))
        status, said, free = self.quantize("free")
        self.assertEqual(status, 0, said)
        status, said, _ = self.quantize("no", "--max-memory", "1MB")
        self.assertEqual(status, 5, said)
        self.assertRegex(said, rb"mlp\.down_proj requires [0-9.]+ MB, --max-memory is 1\.0 MB")
        least = int(re.search(rb"--max-memory ([0-9]+)MB", said.splitlines()[-1])[1])
        self.assertEqual(self.quantize("no", "--max-memory", f"{least - 1}MB")[0], 5)
        status, said, most = self.quantize("least", "--max-memory", f"{least}MB")
        self.assertEqual(status, 0, said)
        self.assertIn(b"lie in a file", said)
        print(f"{free / MIB:.0f} MiB, with {least} MB at most {most / MIB:.0f} MiB", flush=True)
        self.assertGreater(free, least * 1000 * 1000)
        self.assertLessEqual(most, least * 1000 * 1000)
        weights = [(self.folder / out / "model.safetensors").read_bytes() for out in ("free", "least")]
        self.assertEqual(*weights)


if __name__ == "__main__":
    process.main()
