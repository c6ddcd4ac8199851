"""Quantizing: big models in little memory, graphs of many nodes, signals, progress."""

import json
import math
import os
import random
import signal
import struct
import subprocess
import sys
import time
import unittest

import models
import process
from models import field, number

MIB = 1 << 20
SIDE = 4096  # of a weight: 64 MiB
PEAK = 1024 * MIB
SMALL, MANY, LARGE = 10000, 20000, 40000
RATIO = 10  # in the square of the nodes it would be 16


def external(name, dims, offset, size):
    """A weight that lies in weights.bin."""
    rows = {"location": "weights.bin", "offset": str(offset), "length": str(size)}
    pairs = [piece for row in rows.items() for piece in field(13, [*field(1, row[0]), *field(2, row[1])])]
    sizes = [piece for dim in dims for piece in number(1, dim)]
    return [*sizes, *number(2, 1), *field(8, name), *pairs, *number(14, 1)]


def products(folder, layers):
    """A row of MatMul with 64 MiB of random weights each, in a file of its own."""
    size = 4 * SIDE * SIDE
    draw = random.Random(7)
    numbers = struct.pack("<65536f", *(draw.gauss(0, 0.02) for _ in range(65536)))
    with open(folder / "weights.bin", "wb") as file:
        for _ in range(layers):
            for _ in range(size // len(numbers)):
                file.write(numbers)
    names = ["x", *(f"t{i}" for i in range(1, layers)), "y"]
    rows = [external(f"w{i}", [SIDE, SIDE], i * size, size) for i in range(layers)]
    nodes = [models.node("MatMul", [names[i], f"w{i}"], [names[i + 1]], f"n{i}") for i in range(layers)]
    ports = [models.port("x", [1, SIDE])], [models.port("y", [1, SIDE])]
    models.save(folder / "big.onnx", models.model(nodes, rows, *ports))


class Memory(process.Case):
    WAYS = (["--approach", "weights", "-w", "int8"], ["--preset", "MATMUL_NBITS"],
            ["--preset", "UINT8_DYNAMIC_QUANT"])

    def quantize_all(self, most):
        peaks = {}
        for way in self.WAYS:
            done = self.baryon("quantize", "big.onnx", "-o", "q.onnx", "--force", "-q", *way)
            peaks[way[-1]] = done.peak
        print({name: f"{peak / MIB:.0f} MiB" for name, peak in peaks.items()}, flush=True)
        for name, peak in peaks.items():
            self.assertLess(peak, most, name)

    def test_weights_of_256_mib(self):
        products(self.folder, 4)
        self.quantize_all(200 * MIB)

    @unittest.skipUnless(process.LONG, "takes 5 GB of disk: LONG=1")
    def test_weights_of_3_gib(self):
        products(self.folder, 48)
        self.quantize_all(PEAK)


LIBRARY = os.path.join(os.path.dirname(process.BARYON), "libbaryon.so")
CALL = """
import ctypes, resource, sys
class Setting(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]
settings = (Setting * 2)((b"approach", b"weights"), (b"weight", b"int8"))
failed = ctypes.CDLL(sys.argv[1]).baryon_quantize_file(b"big.onnx", b"l.onnx", settings, ctypes.c_size_t(2), None, None, None)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
sys.exit(failed != 0)
"""


class Library(process.Case):
    @unittest.skipUnless(os.path.exists(LIBRARY), "no shared library beside the program")
    def test_as_little_memory_as_the_program(self):
        products(self.folder, 4)
        done = subprocess.run([sys.executable, "-c", CALL, LIBRARY], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        print(f"{int(done.stdout) / MIB:.0f} MiB", flush=True)
        self.assertLess(int(done.stdout), 200 * MIB)
        words = ("--approach", "weights", "-w", "int8")
        self.baryon("quantize", "big.onnx", "-o", "p.onnx", "-q", *words)
        self.assertEqual((self.folder / "l.onnx").read_bytes(), (self.folder / "p.onnx").read_bytes())


def layers(error):
    """Relu and Conv, twice; every weight lies so much of a step beside a level of 8 bits."""
    nodes, rows, names = [], [], ["x", "a", "b", "c", "y"]
    for i, name in ((0, "first"), (2, "last")):
        values = [((k % 5 + 1) * (2 if k < 8 else 16) + error) / 32 for k in range(16)]
        values[-1] = 127 / 32  # the range, and so the step, of them all
        rows.append(models.tensor(name, [4, 4, 1, 1], struct.pack("<16f", *values)))
        rows.append(models.tensor(f"{name}_bias", [4], struct.pack("<4f", 1, 1, 1, 1)))
        nodes.append(models.node("Relu", [names[i]], [names[i + 1]], f"{name}_relu"))
        words = [names[i + 1], name, f"{name}_bias"]
        nodes.append(models.node("Conv", words, [names[i + 2]], name))
    return models.model(nodes, rows, [models.port("x", [1, 4, 8, 8])], [models.port("y", [1, 4, 8, 8])])


class Biases(process.Case):
    """XINT8 corrects biases where held-out samples show that it helps."""

    def quantize(self, name, *words):
        words = ("--preset", "XINT8", "--random", "16", "-v", *words)
        done = self.baryon("quantize", "m.onnx", "-o", name, *words)
        said = [line.split()[-1] for line in done.err.decode().splitlines() if line.startswith("baryon: bias correction ")]
        return (self.folder / name).read_bytes(), said

    def compare(self, error, wanted, *words):
        models.save(self.folder / "m.onnx", layers(error))
        judged, said = self.quantize("judged.onnx", *words)
        kept, _ = self.quantize("kept.onnx", "--bias-correction", "false", *words)
        corrected, _ = self.quantize("corrected.onnx", "--bias-correction", "true", *words)
        self.assertIn(wanted, said)
        self.assertEqual(judged, {"off": kept, "on": corrected}[wanted])
        self.assertEqual(kept == corrected, not error)

    def test_weights_beside_levels(self):
        self.compare(0.4, "on")

    def test_weights_on_levels(self):
        self.compare(0, "off")

    def test_equalization_is_given(self):
        self.compare(0.4, "on", "--cle", "keep")


@unittest.skipUnless(process.LONG, "compares times: LONG=1")
class ManyNodes(process.Case):
    def seconds(self, count, words):
        models.save(self.folder / "m.onnx", models.convolutions(count))
        done = self.baryon("quantize", "m.onnx", "-o", "q.onnx", "--force", "-q", *words)
        return done.cpu

    def compare(self, *words):
        """What else the machine does is in every measurement: the least of some counts."""
        small = large = math.inf
        for _ in range(5):
            small = min(small, self.seconds(SMALL, words))
            large = min(large, self.seconds(LARGE, words))
            if large < RATIO * max(small, 0.1):
                break
        print(f"{' '.join(words)}: {SMALL} nodes {small:.2f} s, {LARGE} nodes {large:.2f} s", flush=True)
        self.assertLess(large, RATIO * max(small, 0.1))

    def test_weights(self):
        self.compare("--approach", "weights", "-w", "int8")

    def test_dynamic(self):
        self.compare("--preset", "UINT8_DYNAMIC_QUANT")

    def test_plan_of_equalization(self):
        """Without samples: what finds and balances pairs of layers."""
        self.compare("--approach", "weights", "-w", "int8", "--cle", "exact")

    def test_samples(self):
        """The runtime neither optimizes so many nodes nor opens the quantized model: that is n squared."""
        models.save(self.folder / "m.onnx", models.convolutions(MANY))
        done = self.baryon("quantize", "m.onnx", "-o", "q.onnx", "--preset", "A8W8", "--random", "1",
                           "--threads", "2")  # fmt: skip
        self.assertIn(b"equalization skipped", done.err)
        print(f"A8W8: {MANY} nodes {done.cpu:.2f} s", flush=True)
        self.assertLess(done.cpu, 60)


class Stages(process.Case):
    def setUp(self):
        super().setUp()
        models.save(self.folder / "m.onnx", models.convolutions(400))

    WORDS = ("quantize", "m.onnx", "-o", "q.onnx", "--preset", "A8W8", "--random", "64")

    def test_equalization_has_progress(self):
        done = self.baryon(*self.WORDS, "--json")
        events = [json.loads(line) for line in done.err.decode().splitlines() if line.startswith("{")]
        stages = [event.get("stage") for event in events if event.get("stage")]
        self.assertIn("equalize", stages)
        self.assertIn("calibrate", stages)

    def test_any_number_of_threads(self):
        """The way that is chosen, and so the bytes, do not depend on it."""
        models.save(self.folder / "m.onnx", models.convolutions(9))
        words = ("quantize", "m.onnx", "--preset", "A8W8", "--random", "12", "-q")
        for threads in ("1", "2", "5"):
            self.baryon(*words, "-o", f"q{threads}.onnx", "--threads", threads)
        contents = {(self.folder / f"q{threads}.onnx").read_bytes() for threads in ("1", "2", "5")}
        self.assertEqual(len(contents), 1)

    def test_signal_while_it_is_measured(self):
        """The model is written and stays."""
        models.save(self.folder / "m.onnx", models.convolutions(1500))
        words = (*self.WORDS[:-1], "8", "--cle", "off")
        self.baryon(*words, "-q", "--no-judge")
        whole = (self.folder / "q.onnx").read_bytes()
        (self.folder / "q.onnx").unlink()
        running = process.start(*words, "--json", cwd=self.folder)
        process.wait_until(running, lambda: (self.folder / "q.onnx").exists())
        running.send_signal(signal.SIGINT)
        told = running.communicate(timeout=process.SECONDS)[1]
        self.assertEqual(running.returncode, 130, told)
        if b"stopped" in told:
            self.assertIn(b"the model is written", told)
        self.assertEqual({*os.listdir(self.folder)}, {"m.onnx", "q.onnx"})
        self.assertEqual((self.folder / "q.onnx").read_bytes(), whole)

    def test_signal_ends_it_at_once(self):
        for seconds in (0, 0.3, 0.6):
            running = process.start(*self.WORDS, "-q", cwd=self.folder)
            process.wait_until(running, lambda: process.handles(running, signal.SIGINT))
            time.sleep(seconds)
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=process.SECONDS)
            status = running.returncode
            self.assertIn(status, (0, 130))
            files = {*os.listdir(self.folder)} - {"m.onnx"}
            self.assertLessEqual(files, {"q.onnx"})
            if files:  # a signal that comes behind the last byte finds it whole
                self.baryon("check", "q.onnx")
                (self.folder / "q.onnx").unlink()
            else:
                self.assertEqual(status, 130)


if __name__ == "__main__":
    process.main()
