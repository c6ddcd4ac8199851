"""GGUF blocks beside the package gguf (decoding of any bytes, encoding of its types) and beside recorded answers
of ggml's own quantizers, with importance and without. Everything is compared bit for bit.
"""

import importlib.util
import pathlib
import struct
import subprocess
import sys
import types

import ggml_data as data
import numpy as np
from dump import Score, tool

GOLDEN = pathlib.Path(__file__).parent.parent / "golden/ggml/answers.npz"
DECODED = ["f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_K", "q3_K", "q4_K", "q5_K", "q6_K", "iq4_nl",
           "iq4_xs", "iq3_xxs", "iq3_s", "tq1_0", "tq2_0", "mxfp4", "nvfp4"]
# What the package encodes like ggml; its Q8_0 and others divide in another order.
ENCODED = ["f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "mxfp4"]


def load_gguf():
    """The package's arithmetic alone: the rest of it needs packages that no test needs."""
    spec = importlib.util.find_spec("gguf")
    package = types.ModuleType("gguf")
    package.__path__ = spec.submodule_search_locations
    sys.modules["gguf"] = package
    return importlib.import_module("gguf.quants"), importlib.import_module("gguf.constants")


class Ours:
    def __init__(self):
        self.process = subprocess.Popen([tool("ggml_dump")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _ask(self, words, *arrays):
        words = words.encode()
        self.process.stdin.write(struct.pack("I", len(words)) + words + b"".join(a.tobytes() for a in arrays))
        self.process.stdin.flush()
        size, = struct.unpack("I", self.process.stdout.read(4))
        if size:
            raise ValueError(self.process.stdout.read(size).decode())

    def encode(self, name, values, size, importance=None):
        rows, width = values.shape
        weights = [] if importance is None else [importance]
        self._ask(f"encode {name} {rows} {width} {len(weights)}", values, *weights)
        return np.frombuffer(self.process.stdout.read(size), "u1")

    def decode(self, name, blocks, count):
        self._ask(f"decode {name} {count}", blocks)
        return np.frombuffer(self.process.stdout.read(count * 4), "f4")

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def same(ours, theirs):
    """Bit for bit, but that any NaN is a NaN."""
    if ours.dtype == np.uint8:
        return np.array_equal(ours, theirs)
    both = np.isnan(ours) & np.isnan(theirs)
    return bool(np.all(both | (ours.view("u4") == theirs.view("u4"))))


def check_sizes(score, ours, constants):
    for name in DECODED:
        block, size = constants.GGML_QUANT_SIZES[constants.GGMLQuantizationType[name.upper()]]
        zeros = ours.decode(name, np.zeros(size * 2, "u1"), block * 2)
        score.check(zeros.size == block * 2 and np.all(np.isfinite(zeros)), f"{name}: blocks of zeros")


def check_decoding(score, ours, quants, constants):
    draw = np.random.default_rng(7)
    for name in DECODED:
        kind = constants.GGMLQuantizationType[name.upper()]
        block, size = constants.GGML_QUANT_SIZES[kind]
        blocks = draw.integers(0, 256, (2048 // block, 8 * size), "u1")
        with np.errstate(all="ignore"):
            theirs = np.ascontiguousarray(quants.dequantize(blocks, kind), "f4").ravel()
        score.check(same(ours.decode(name, blocks, theirs.size), theirs), f"{name}: random bytes")


def check_encoding(score, ours, quants, constants):
    for name in ENCODED:
        kind = constants.GGMLQuantizationType[name.upper()]
        for distribution in ["normal", "heavy", "uniform", "groups", "sparse", "constant", "zero"]:
            values = data.values(distribution, (16, 512), seed=1)
            with np.errstate(all="ignore"):
                theirs = np.ascontiguousarray(quants.quantize(values, kind)).view("u1").ravel()
            blocks = ours.encode(name, values, theirs.size)
            score.check(same(blocks, theirs), f"{name}: {distribution}")


def check_answers(score, ours):
    answers = np.load(GOLDEN)
    values, importance = answers["values"], answers["importance"]
    for name in answers.files:
        if name in ("values", "importance"):
            continue
        of_type, _, weighted = name.partition(" ")
        if of_type in data.SEARCHED:
            continue
        blocks = ours.encode(of_type, values, answers[name].size, importance if weighted else None)
        score.check(same(blocks, answers[name]), f"{name}: ggml's answer")


def check_searched(score, ours):
    """What the error is by, summed over rows of each kind of values: no more than that of ggml's blocks, clearly less in all."""
    answers = np.load(GOLDEN)
    values = answers["values"]
    for name in data.SEARCHED:
        for weighted in (False, True):
            importance = answers["importance"] if weighted else np.ones(values.shape[1], "f4")
            theirs = answers[f"{name} weighted" if weighted else name]
            errors = []
            for blocks in (ours.encode(name, values, theirs.size, importance if weighted else None), theirs):
                off = ours.decode(name, blocks, values.size).reshape(values.shape).astype("f8") - values
                errors.append((importance * off**2).sum(1))
            power = (importance * values.astype("f8") ** 2).sum(1)
            shares = [error[power > 1e-20] / power[power > 1e-20] for error in errors]
            what = f"{name}{' weighted' if weighted else ''}"
            score.check(np.all(shares[0] < 1.02 * shares[1]), f"{what}: errors {shares}")
            score.check(shares[0].mean() < 0.85 * shares[1].mean(), f"{what}: errors {shares} on average")


def main():
    score, ours = Score(), Ours()
    quants, constants = load_gguf()
    check_sizes(score, ours, constants)
    check_decoding(score, ours, quants, constants)
    check_encoding(score, ours, quants, constants)
    check_answers(score, ours)
    check_searched(score, ours)
    score.check(ours.close() == 0, "the program ends well")
    return score.finish()


if __name__ == "__main__":
    sys.exit(main())
