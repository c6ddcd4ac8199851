#!/usr/bin/env python3
"""Records what ggml makes of values, for tests/diff/test_ggml.py. It needs numpy and a libggml-base.so of
x86-64 that is built without -march (so that nothing is contracted), from the sources in llama-cpp-python 0.3.36:

    tests/golden/make_ggml.py libggml-base.so
"""

import ctypes
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "diff"))
import ggml_data as data  # noqa: E402

NUMBERS = {"q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q8_0": 8, "q2_K": 10, "q3_K": 11, "q4_K": 12, "q5_K": 13,
           "q6_K": 14, "iq3_xxs": 18, "iq4_nl": 20, "iq3_s": 21, "iq4_xs": 23, "mxfp4": 39, "nvfp4": 40}


def quantize(library, name, values, importance):
    rows, width = values.shape
    library.ggml_quantize_init(NUMBERS[name])
    out = np.zeros(values.size * 2, "u1")
    size = library.ggml_quantize_chunk(
        NUMBERS[name], ctypes.c_void_p(values.ctypes.data), ctypes.c_void_p(out.ctypes.data), ctypes.c_int64(0),
        ctypes.c_int64(rows), ctypes.c_int64(width),
        ctypes.c_void_p(None if importance is None else importance.ctypes.data))
    return out[:size]


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.ggml_quantize_chunk.restype = ctypes.c_size_t
    values = np.concatenate([data.values(kind, (2, 256)) for kind in data.KINDS])
    values = np.ascontiguousarray(values.reshape(-1, 512))
    importance = data.importance(512)
    answers = {"values": values, "importance": importance}
    for name in data.WRITTEN + data.SEARCHED:
        answers[name] = quantize(library, name, values, None)
        if name in data.WEIGHTED + data.SEARCHED:
            answers[f"{name} weighted"] = quantize(library, name, values, importance)
    (HERE / "ggml").mkdir(exist_ok=True)
    np.savez_compressed(HERE / "ggml/answers.npz", **answers)


if __name__ == "__main__":
    main()
