"""Writes weights/*: constants, and what quark.onnx makes of them.

Needs the packages amd-quark (0.13) and its torch and onnxruntime. The answers are stored, so
that no test needs them: tests/diff/test_weights.py compares with them.
"""

import json
import pathlib

import numpy as np
import onnx
from onnxruntime.quantization.calibrate import CalibrationMethod
from quark.onnx.quantization.quant_utils import (ExtendedCalibrationMethod, Int16Method,
                                                 PowerOfTwoMethod, quantize_data)

FOLDER = pathlib.Path(__file__).parent / "weights"
TYPES = {"int8": onnx.TensorProto.INT8, "uint8": onnx.TensorProto.UINT8,
         "int16": onnx.TensorProto.INT16, "uint16": onnx.TensorProto.UINT16}
METHODS = {
    "minmax": {"weight_method": CalibrationMethod.MinMax, "method": CalibrationMethod.MinMax},
    "minmse": {"weight_method": ExtendedCalibrationMethod.MinMSE},
    "nonoverflow": {"method": PowerOfTwoMethod.NonOverflow},
    "minmse-pow2": {"method": PowerOfTwoMethod.MinMSE},
    "int16": {"method": Int16Method.MinMax},
}


def constants():
    rng = np.random.default_rng(5)
    outliers = rng.normal(0, 0.05, 4000)
    outliers[::1000] *= 25
    yield "normal", rng.normal(0, 0.1, 3000)
    yield "laplace", rng.laplace(0, 0.3, 3000)
    yield "outliers", outliers
    yield "positive", rng.gamma(2, 0.2, 2000)
    yield "negative", -rng.gamma(2, 0.01, 2000)
    yield "student", rng.standard_t(3, 4000)
    yield "small", rng.normal(0, 1e-6, 500)
    yield "large", rng.normal(0, 3000, 500)
    yield "steps", rng.integers(-20, 21, 800) / 64
    yield "zeros", np.zeros(64)


def main():
    arrays, answers = {}, {}
    for name, values in constants():
        values = arrays[name] = values.astype("f4")
        for kind, elem in TYPES.items():
            for symmetric in (True, False):
                if symmetric and kind[0] == "u":
                    continue
                for method, arguments in METHODS.items():
                    _, _, zero, scale, data = quantize_data(values, elem, symmetric, **arguments)
                    key = f"{name} {kind} {'symmetric' if symmetric else 'asymmetric'} {method}"
                    answers[key] = {"scale": float(scale), "zero": int(zero),
                                    "sum": int(np.sum(np.asarray(data, "i8") * (1 + np.arange(values.size) % 97)))}
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(FOLDER / "constants.npz", **arrays)
    (FOLDER / "answers.json").write_text(json.dumps(answers, indent=0) + "\n")


if __name__ == "__main__":
    main()
