"""Values for tests of number formats: the same ones wherever and whenever they are made."""

import functools
import hashlib

import numpy as np

BLOCK_FORMATS = ["bfp16", "bfp16_raised", "mx4", "mx6", "mx9", "mxint8", "mxfp8_e5m2", "mxfp8_e4m3", "mxfp6_e3m2",
                 "mxfp6_e2m3", "mxfp4_e2m1"]  # those that Quark has
MICRO = {"mx4": 11, "mx6": 13, "mx9": 16}  # bit_width of Quark's operator
TIES = {"even": 0, "away": 1, "up": 2}
SHAPES = [(50,), (4, 17), (3, 5, 7), (2, 33, 5), (2, 3, 4, 5), (1, 64, 3, 3), (5, 1), (1, 5), (6, 40, 16)]
SIZES = [1, 5, 8, 12, 16, 32, 100]


def words(seed, count):
    """64 random bits each (SplitMix64)."""
    with np.errstate(over="ignore"):
        x = (np.arange(1, count + 1, dtype="u8") + np.uint64(seed << 32)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def any_floats(seed, count):
    """Any bits but those of a NaN with another payload than the usual one."""
    bits = (words(seed, count) >> np.uint64(20)).astype("u4")
    nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return np.where(nan, bits & 0x80000000 | 0x7FC00000, bits).astype("u4").view("f4")


def halves(shuffled=False):
    """All 65,536 half floats, with the usual NaN."""
    codes = np.arange(65536, dtype="u2")
    nan = (codes & 0x7FFF) > 0x7C00
    codes = np.where(nan, codes & 0x8000 | 0x7E00, codes).astype("u2")
    if shuffled:
        codes = codes[np.argsort(words(7, 65536), kind="stable")]
    return codes.view("f2").astype("f4")


def blocks(seed, rows, width):
    """Rows whose magnitudes lie around an exponent of their own: all of those there are, subnormal
    ones too; with many ties, zeros of both signs, and in some an infinity or a NaN."""
    count = rows * width
    random = words(seed, count)
    top = np.repeat((words(seed + 1, rows) % np.uint64(256)).astype("i8"), width)
    spread = np.repeat((words(seed + 2, rows) % np.uint64(24)).astype("i8") + 1, width)
    exponent = np.clip(top - (random % np.uint64(64)).astype("i8") % spread, 0, 254)
    kept = np.repeat((words(seed + 3, rows) % np.uint64(24)).astype("u4"), width)  # bits of the fraction
    fraction = ((random >> np.uint64(8)).astype("u4") & 0x7FFFFF) >> (23 - kept) << (23 - kept)
    sign = (random >> np.uint64(40)).astype("u4") & 0x80000000
    bits = sign | exponent.astype("u4") << 23 | fraction
    kind = (random >> np.uint64(48)) % np.uint64(64)
    bits = np.where(kind == 0, sign, bits)
    odd = np.repeat(words(seed + 4, rows) % np.uint64(8) == 0, width)
    bits = np.where(odd & (kind == 1), sign | 0x7F800000, bits)
    bits = np.where(odd & (kind == 2), sign | 0x7FC00000, bits)
    return bits.astype("u4").view("f4").reshape(rows, width)


@functools.cache
def sets():
    return [("halves", halves().reshape(-1, 64), 1),
            ("shuffled halves", halves(True).reshape(-1, 64), 1),
            ("blocks", blocks(20, 25000, 128), 1),
            ("any", any_floats(30, 64 * 1000).reshape(1000, 64), -1)]


@functools.cache
def ragged(shape):
    """(values, axis, size): an array that few sizes of blocks divide, along each axis."""
    found = []
    for axis in range(len(shape)):
        for size in SIZES:
            values = blocks(40 + axis, 1, int(np.prod(shape))).reshape(shape)
            plain = (words(41 + axis, values.size) % np.uint64(2001)).astype("f4").reshape(shape) / 250 - 4
            found.append((np.where(np.isfinite(values), values, plain), axis, size))
            found.append((plain.astype("f4"), axis, size))
    return found


def has_size(name, size):
    """Two elements of a sub-block never belong to two blocks."""
    return name not in MICRO or size % 2 == 0


def size_of(name):
    """Of a block."""
    return 8 if name.startswith("bfp") else 16 if name in MICRO else 32


def operator_of(name, ties):
    """Quark's operator for a format, and its attributes but for axis."""
    shared = {"block_size": size_of(name), "rounding_mode": {"away": 0, "up": 1, "even": 2}[ties]}
    if name.startswith("mx") and name not in MICRO:
        return "MXQuantizeDequantize", {"element_dtype": name.removeprefix("mx"), **shared}
    own = {"bfp_method": "to_bfp"}
    if name in MICRO:
        own = {"bfp_method": "to_bfp_prime", "bit_width": MICRO[name], "sub_block_size": 2, "sub_block_shift_bits": 1}
    elif name == "bfp16_raised":
        own["use_compiler_version_cpu_kernel"] = 1
    return "BFPQuantizeDequantize", own | shared


MILLION = 1_000_000
PARTS = 16


def million_blocks(size):
    """(values, axis) in parts: blocks as rows and as columns in turn."""
    for part in range(PARTS):
        values = blocks(1000 + 8 * part, MILLION // PARTS, size)
        yield (values.T.copy(), 0) if part % 2 else (values, 1)


@functools.cache
def million_floats():
    """Finite, small enough for integers: see for_integers(); of all magnitudes below that."""
    values = any_floats(2000, 5 * MILLION // 2)
    values = values[np.abs(values) < 1e15][:MILLION]  # without NaN
    steps = (words(2001, MILLION) % np.uint64(1 << 20)).astype("f4") / 8 - 65536  # many ties
    return np.concatenate([values, steps])


class Digest:
    def __init__(self):
        self.whole = hashlib.sha256()

    def add(self, array):
        self.whole.update(np.ascontiguousarray(array).tobytes())

    def text(self):
        return self.whole.hexdigest()[:16]


def digest(*arrays):
    whole = Digest()
    for array in arrays:
        whole.add(array)
    return whole.text()


def digests_of_million(names, round_blocks):
    """{name: digest of what round_blocks(name, values, axis) gives for a million blocks}"""
    found = {name: Digest() for name in names}
    for size in {size_of(name) for name in names}:
        for values, axis in million_blocks(size):
            for name in names:
                if size_of(name) == size:
                    found[name].add(round_blocks(name, values, axis))
    return {name: one.text() for name, one in found.items()}


def for_integers():
    """Finite, and small enough for 64 bits after any scale of the test: beyond, Quark's answer is that
    of the processor."""
    small = (words(51, 100000) % np.uint64(1 << 24)).astype("f8") / 128 - 1e4
    values = np.concatenate([halves(), blocks(50, 2000, 64).ravel(), small.astype("f4")])
    return values[np.isfinite(values) & (np.abs(values) < 1e15)].astype("f4")
