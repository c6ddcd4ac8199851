"""Number formats beside ml_dtypes (every code, all half floats, a million floats), beside formulas in
numpy for block formats in memory, and beside stored answers of Quark's operators.

LONG=1: 128 times as many floats, and a million blocks of every format in every way of rounding.
"""

import json
import os
import pathlib
import struct
import subprocess

import dtype_data as data
import ml_dtypes
import numpy as np
from dump import Score, some, tool

GOLDEN = pathlib.Path(__file__).parent.parent / "golden/dtype/answers.json"
FLOATS = {"fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp8_e4m3": ml_dtypes.float8_e4m3fn,
          "fp8_e5m2": ml_dtypes.float8_e5m2, "fp8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
          "fp8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz, "fp6_e3m2": ml_dtypes.float6_e3m2fn,
          "fp6_e2m3": ml_dtypes.float6_e2m3fn, "fp4_e2m1": ml_dtypes.float4_e2m1fn,
          "e8m0": ml_dtypes.float8_e8m0fnu}
BITS = {"fp16": 16, "bf16": 16, "fp6_e3m2": 6, "fp6_e2m3": 6, "fp4_e2m1": 4}
SMALL_INTEGERS = {"int2": ml_dtypes.int2, "uint2": ml_dtypes.uint2, "int4": ml_dtypes.int4, "uint4": ml_dtypes.uint4}
INTEGERS = {"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4"}
SCALES = [(1.0, 0), (0.3, 3), (0.0078125, 100), (2.5e9, 1)]
ELEMENTS = {"mxfp8_e5m2": ("fp8_e5m2", 15), "mxfp8_e4m3": ("fp8_e4m3", 8), "mxfp6_e3m2": ("fp6_e3m2", 4),
            "mxfp6_e2m3": ("fp6_e2m3", 2), "mxfp4_e2m1": ("fp4_e2m1", 2)}
LONG = bool(os.environ.get("LONG"))
MANY = 16 * data.MILLION if LONG else data.MILLION // 8


class Ours:
    def __init__(self):
        self.process = subprocess.Popen([tool("dtype_dump")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def _bytes(self):
        return self.process.stdout.read(struct.unpack("I", self.process.stdout.read(4))[0])

    def _floats(self, shape):
        return np.frombuffer(self.process.stdout.read(int(np.prod(shape)) * 4), "f4").reshape(shape)

    def _ask(self, values, name, what, ties="even", saturate=True, scale=1.0, zero=0, threads=2, axis=-1, size=0,
             tensor_scale=0.0, from_bf16=False):
        line = (f"{name} {what} {data.TIES[ties]} {saturate:d} {scale!r} {zero} {threads} {axis} {size} "
                f"{tensor_scale!r} {from_bf16:d}").encode()
        values = np.ascontiguousarray(values)
        shape = struct.pack("I", values.ndim) + struct.pack(f"{values.ndim}q", *values.shape)
        self.process.stdin.write(struct.pack("I", len(line)) + line + shape + values.tobytes())
        self.process.stdin.flush()
        problem = self._bytes().decode()
        if problem:
            raise ValueError(problem)

    def round(self, name, values, **how):
        self._ask(values, name, "round", **how)
        return self._floats(values.shape)

    def encode(self, name, values, **how):
        """Packed codes, scales, and the floats of these."""
        self._ask(values, name, "encode", **how)
        codes, scales = self._bytes(), self._bytes()
        return np.frombuffer(codes, "u1"), np.frombuffer(scales, "u1"), self._floats(values.shape)

    def decode(self, name, codes, **how):
        self._ask(codes.astype("u4"), name, "decode", **how)
        return self._floats(codes.shape)


def unpacked(packed, bits, count):
    """Codes of `bits` each, the first in the low bits."""
    if bits >= 8:
        return packed.view(f"u{bits // 8}")
    stream = np.unpackbits(packed, bitorder="little")[:count * bits].reshape(count, bits)
    return (stream << np.arange(bits, dtype="u1")).sum(1).astype("u1")


def same(ours, theirs):
    """Bit for bit."""
    return ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes()


def same_floats(ours, theirs):
    """Bit for bit, whatever a NaN carries."""
    both = np.isnan(ours) & np.isnan(theirs)
    return same(np.where(both, 0, ours).astype("f4"), np.where(both, 0, theirs).astype("f4"))


def codes_of(values, kind):
    with np.errstate(all="ignore"):
        return values.astype(kind).view(f"u{np.dtype(kind).itemsize}")


def test_floats(ours, score):
    values = np.concatenate([data.halves(), data.any_floats(1, MANY), data.blocks(2, 2000, 64).ravel(),
                             np.random.default_rng(3).normal(0, 2, 100000).astype("f4")])
    all_values = values
    for name, kind in FLOATS.items():
        values = all_values
        if name == "e8m0":  # here ml_dtypes takes 2^-126, though 2^-127 is nearer
            values = values[~((values > 2.0**-127) & (values < 1.5 * 2.0**-127))]
        bits = BITS.get(name, 8)
        codes = np.arange(1 << bits, dtype="u2" if bits > 8 else "u1")
        score.check(same_floats(ours.decode(name, codes), codes.view(kind).astype("f4")), f"{name}: all codes")
        theirs = codes_of(values, kind)
        packed, _, back = ours.encode(name, values, saturate=False)
        mine = unpacked(packed, bits, values.size)
        score.check(same(mine, theirs), f"{name}: codes of {values.size} floats")
        score.check(same_floats(back, theirs.view(kind).astype("f4")), f"{name}: and back")
        score.check(same_floats(ours.round(name, values, saturate=False), back), f"{name}: rounded at once")
        with np.errstate(all="ignore"):
            limit = float(ml_dtypes.finfo(kind).max)
            cut = np.where(np.isnan(values), values, np.clip(values, None if name == "e8m0" else -limit, limit))
        score.check(same_floats(ours.round(name, values), cut.astype("f4").astype(kind).astype("f4")), f"{name}: saturated")


def test_float_scales(ours, score):
    values = data.halves()
    values = values[np.isfinite(values)]
    for name in ("bf16", "fp8_e4m3", "fp4_e2m1"):
        for scale, zero in ((0.3, 0), (7.0, 3)):
            kind = FLOATS[name]
            limit = np.float32(ml_dtypes.finfo(kind).max)
            scaled = np.clip(values / np.float32(scale) + np.float32(zero), -limit, limit)
            theirs = (scaled.astype(kind).astype("f4") - np.float32(zero)) * np.float32(scale)
            score.check(same(ours.round(name, values, scale=scale, zero=zero), theirs), f"{name} scale {scale} {zero}")


def nearest(values, ties):
    values = values.astype("f8")
    if ties == "even":
        return np.rint(values)
    if ties == "up":
        return np.where(values - np.floor(values) >= 0.5, np.floor(values) + 1, np.floor(values))
    return np.copysign(np.where(np.abs(values) % 1 >= 0.5, np.ceil(np.abs(values)), np.floor(np.abs(values))), values)


def test_integers(ours, score):
    ends = np.array([np.inf, -np.inf, np.nan, 3e38, -3e38, 2**31, 2**32, -2**31 - 256, 0.0, -0.0], "f4")
    values = np.concatenate([data.for_integers(), ends])
    for name, kind in (INTEGERS | SMALL_INTEGERS).items():
        low, high = int(ml_dtypes.iinfo(kind).min), int(ml_dtypes.iinfo(kind).max)
        bits = int(name.strip("uint"))
        for ties in data.TIES:
            for scale, zero in [*SCALES, (0.3, low)]:
                if not low <= zero <= high:
                    continue
                with np.errstate(all="ignore"):
                    levels = np.clip(nearest(values / np.float32(scale), ties) + zero, low, high)
                levels = np.where(np.isnan(values), low, levels).astype("i8")
                back = (levels - zero).astype("f4") * np.float32(scale)
                packed, _, decoded = ours.encode(name, values, ties=ties, scale=scale, zero=zero)
                mine = unpacked(packed, bits, values.size)
                what = f"{name} {ties} {scale} {zero}"
                score.check(same(mine.astype("i8"), levels & ((1 << bits) - 1)), f"{what}: codes")
                score.check(same(decoded, back), f"{what}: and back")
                score.check(same(ours.round(name, values, ties=ties, scale=scale, zero=zero), back),
                            f"{what}: rounded at once")


def beyond(value):
    """What may have no place in memory: an infinity, a NaN, a power of two that E8M0 lacks."""
    return ~np.isfinite(value) | (np.abs(value) < 2.0**-100) | (np.abs(value) >= 2.0**127)


def test_memory(ours, score):
    """A block's scale and codes mean what the formats' definitions say."""
    values = data.blocks(60, 4000, 64)
    values = np.where(beyond(values), np.float32(0), values)
    for name, (element, top) in ELEMENTS.items():
        packed, scales, back = ours.encode(name, values)
        codes = unpacked(packed, BITS.get(element, 8), values.size).astype("u1")
        step = scales.view(ml_dtypes.float8_e8m0fnu).astype("f8").repeat(32).reshape(values.shape)
        meaning = codes.view(FLOATS[element]).astype("f8").reshape(values.shape) * step
        score.check(same(meaning.astype("f4"), back), f"{name}: codes and scales")
        score.check(np.array_equal(back, ours.round(name, values)), f"{name}: rounded is what memory keeps")
        greatest = np.abs(values).reshape(-1, 32).max(1).astype("f8")
        wanted = np.where(greatest > 0, np.frexp(greatest)[1] - 1 - top + 127, 0)
        score.check(np.array_equal(scales, np.clip(wanted, 0, 254)), f"{name}: scales")
    for name in ("bfp16", "bfp16_raised", "mxint8"):
        packed, scales, back = ours.encode(name, values)
        size = values.size // scales.size
        step = np.exp2(scales.astype("f8") - 127 - 6).repeat(size).reshape(values.shape)
        levels = packed.view("i1").astype("f8")
        if name == "bfp16":
            levels = (packed & 127).astype("f8") * np.where(packed & 128, -1, 1)
        score.check(np.array_equal((levels.reshape(values.shape) * step).astype("f4"), back), f"{name}: codes and scales")
        score.check(np.array_equal(back, ours.round(name, values)), f"{name}: rounded is what memory keeps")
    for name, bits in (("mx4", 3), ("mx6", 5), ("mx9", 8)):
        packed, shared, back = ours.encode(name, values)
        shared = shared.reshape(-1, 3 - 1)
        shifts = np.unpackbits(shared[:, 1:], axis=1, bitorder="little").repeat(2, 1)
        codes = unpacked(packed, bits, values.size).astype("i8").reshape(-1, 16)
        sign, size = codes >> (bits - 1), codes & ((1 << (bits - 1)) - 1)
        meaning = np.where(sign, -1.0, 1.0) * size * np.exp2(shared[:, :1].astype("f8") - 127 - shifts - (bits - 2))
        score.check(same(meaning.astype("f4").reshape(values.shape), back), f"{name}: codes and scales")
        score.check(same(back, ours.round(name, values)), f"{name}: rounded is what memory keeps")


def test_strange_memory(ours, score):
    """A block that memory cannot hold comes back as NaN, its neighbours do not."""
    values = np.ones((3, 32), "f4")
    values[1, 5] = np.inf
    for name in [*data.BLOCK_FORMATS, "nvfp4"]:
        _, _, back = ours.encode(name, values, size=32)
        score.check(np.isnan(back[1]).all() and np.isfinite(back[[0, 2]]).all(), f"{name}: an infinity in memory")


def nvfp4(values, tensor_scale):
    blocks = values.reshape(-1, 16)
    most = np.where(np.isfinite(blocks), np.abs(blocks), 0).max(1, keepdims=True)
    tensor_scale = np.float32(tensor_scale)
    codes = np.minimum(most / (np.float32(6) * tensor_scale), np.float32(448)).astype(ml_dtypes.float8_e4m3fn)
    scale = codes.astype("f4") * tensor_scale
    with np.errstate(all="ignore"):
        scaled = np.where(scale > 0, blocks / scale, np.copysign(np.float32(0), blocks))
        back = np.clip(scaled, -6, 6).astype(ml_dtypes.float4_e2m1fn).astype("f4") * scale
    return codes.view("u1").ravel(), np.where(np.isfinite(blocks), back, blocks).astype("f4").reshape(values.shape)


def test_nvfp4(ours, score):
    rng = np.random.default_rng(8)
    for scale in (1e-9, 0.01, 1, 1e4):
        for tensor_scale in (1.0, 0.0013, 37.0):
            values = (rng.normal(0, scale, (500, 64)) * rng.gamma(1, 1, (500, 1))).astype("f4")
            values[::7, 3] = np.array([np.inf, -0.0, np.nan])[np.arange(0, 500, 7) % 3]
            values[::31] = 0
            codes, wanted = nvfp4(values, tensor_scale)
            got = ours.round("nvfp4", values, tensor_scale=tensor_scale)
            score.check(same(got, wanted), f"nvfp4 of {scale}, {tensor_scale}")
            values[~np.isfinite(values)] = 0
            codes, wanted = nvfp4(values, tensor_scale)
            _, scales, back = ours.encode("nvfp4", values, tensor_scale=tensor_scale)
            score.check(same(scales, codes) and same(back, wanted), f"nvfp4 of {scale}, {tensor_scale}: memory")


def test_quark_blocks(ours, score, answers):
    for name in data.BLOCK_FORMATS:
        for ties in data.TIES:
            if f"{name} {ties} halves" not in answers:
                continue
            for kind, values, axis in data.sets():
                got = ours.round(name, values, ties=ties, axis=axis)
                score.check(data.digest(got) == answers[f"{name} {ties} {kind}"], f"{name} {ties} {kind}: not Quark's")
            for shape in data.SHAPES:
                got = (ours.round(name, values, ties=ties, axis=axis, size=size)
                       for values, axis, size in data.ragged(shape) if data.has_size(name, size))
                score.check(data.digest(*got) == answers[f"{name} {ties} {shape}"], f"{name} {ties} {shape}: not Quark's")
        if name.startswith("bfp"):
            for kind, values, axis in data.sets():
                got = ours.round(name, values, axis=axis, from_bf16=True)
                score.check(data.digest(got) == answers[f"{name} bf16 {kind}"], f"{name} bf16 {kind}: not Quark's")


def test_million_blocks(ours, score, answers):
    for ties in data.TIES if LONG else ["even"]:
        names = some([name for name in data.BLOCK_FORMATS if f"{name} {ties} million" in answers], 3)
        found = data.digests_of_million(
            names, lambda name, values, axis: ours.round(name, values, ties=ties, axis=axis))
        for name in names:
            score.check(found[name] == answers[f"{name} {ties} million"], f"{name} {ties} million: not Quark's")


def test_quark_elements(ours, score, answers):
    for name in INTEGERS:
        for scale, zero in SCALES:
            for kind, values in (("", data.for_integers()), (" million", data.million_floats())):
                codes, _, back = ours.encode(name, values, scale=scale, zero=zero)
                score.check([data.digest(codes), data.digest(back)] == answers[f"{name} {scale} {zero}{kind}"],
                            f"{name} {scale} {zero}{kind}: not Quark's")
    for kind, values, _ in data.sets():
        codes, _, _ = ours.encode("fp16", values.ravel())
        score.check(data.digest(codes) == answers[f"fp16 {kind}"], f"fp16 {kind}: not Quark's")
        # Quark has one NaN, without a sign, and adds zero points of 0, so that there is no -0.
        values = values[~np.isnan(values)] + np.float32(0)
        for scale, zero in SCALES:
            codes, _, _ = ours.encode("bf16", values, scale=scale, zero=zero, saturate=False)
            score.check(data.digest(codes) == answers[f"bf16 {scale} {zero} {kind}"],
                        f"bf16 {scale} {zero} {kind}: not Quark's")


def main():
    ours, score = Ours(), Score()
    answers = json.loads(GOLDEN.read_text())
    test_floats(ours, score)
    test_float_scales(ours, score)
    test_integers(ours, score)
    test_memory(ours, score)
    test_strange_memory(ours, score)
    test_nvfp4(ours, score)
    test_quark_blocks(ours, score, answers)
    test_million_blocks(ours, score, answers)
    test_quark_elements(ours, score, answers)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
