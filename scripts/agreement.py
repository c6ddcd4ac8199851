"""Arrays as `baryon run --out` writes them, and how much of one another one keeps."""

import ast
import math
import struct
import sys
from array import array
from operator import mul, sub


def read_npy(path):
    """(shape, values) of a float32 array."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10 : 10 + size].decode())
    if header["descr"] != "<f4":
        sys.exit(f"{path}: {header['descr']}, not float32")
    values = array("f", data[10 + size :])
    if sys.byteorder == "big":
        values.byteswap()
    return header["shape"], values


def power(values):
    return math.fsum(map(mul, values, values))


def sqnr(pairs):
    """Signal to quantization noise of pairs (float, quantized) of arrays together, in decibels:
    10 log10(sum of squares / sum of squared differences)."""
    signal = noise = 0.0
    for one, other in pairs:
        signal += power(one)
        noise += power(array("d", map(sub, one, other)))
    return 10 * math.log10(signal / noise) if signal and noise else math.inf
