"""The small network of tests/golden/make_ops_models.py: presets, samples, and what a library makes of them."""

import dtype_data as data
import numpy as np
import onnxruntime

PRESETS = ["BF16", "FP16", "BFP16", "MX4", "MX6", "MX9", "MXFP8E4M3", "MXFP6E2M3", "MXFP4E2M1", "MXINT8", "A16W8"]


def samples():
    for seed in range(4):
        values = (data.words(200 + seed, 768) % np.uint64(9)).astype("f4") / 2 - 2
        yield {"x": values.reshape(1, 3, 16, 16)}


def outputs(path, library=None):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if library:
        options.register_custom_ops_library(str(library))
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return [session.run(None, sample)[0] for sample in samples()]


def answer(path, library):
    return data.digest(*outputs(path, library))
