"""Writes calib/*: samples, and what quark.onnx's collectors choose for them.

Needs the packages amd-quark (0.13) and its torch and onnxruntime. The answers are stored, so
that no test needs them: tests/diff/test_calib.py compares with them.
"""

import json
import pathlib

import numpy as np
from onnxruntime.quantization.quant_utils import QuantType
from quark.onnx.calibration.collectors import OverridedHistogramCollector, PowOfTwoCollector

FOLDER = pathlib.Path(__file__).parent / "calib"
SIZE, COUNT, BINS = 1500, 3, 2048
TYPES = {"s8": QuantType.QInt8, "u8": QuantType.QUInt8}


def tensors():
    rng = np.random.default_rng(3)
    wide = rng.normal(0, 1, (COUNT, SIZE))
    wide[:, ::300] *= 12
    yield "normal", rng.normal(0, 1, (COUNT, SIZE))
    yield "relu", np.maximum(rng.normal(0.2, 1, (COUNT, SIZE)), 0)
    yield "laplace", rng.laplace(0, 2, (COUNT, SIZE))
    yield "outliers", wide
    yield "lognormal", rng.lognormal(0, 1.2, (COUNT, SIZE))
    yield "sigmoid", 1 / (1 + np.exp(-rng.normal(0, 3, (COUNT, SIZE))))
    yield "growing", rng.normal(0, 1, (COUNT, SIZE)) * np.array([[0.5], [1], [3]])
    yield "shrinking", rng.normal(0, 1, (COUNT, SIZE)) * np.array([[3], [1], [0.5]])
    yield "negative", -rng.gamma(2, 1, (COUNT, SIZE))
    yield "student", rng.standard_t(3, (COUNT, SIZE))


def histogram(samples, method, symmetric, bins=BINS, percentile=99.9):
    collector = OverridedHistogramCollector(method, symmetric, bins, 128, percentile)
    for sample in samples:
        collector.collect({"x": [sample]})
    return collector.compute_collection_result()["x"]


def position(samples, kind, mode="All"):
    collector = PowOfTwoCollector(activation_type=TYPES[kind], minmse_mode=mode)
    for sample in samples:
        collector.collect({"x": [sample]})
    high = float(collector.compute_collection_result()["x"][1])
    return -int(np.log2(high / 127))


def main():
    arrays, answers = {}, {}
    for name, samples in tensors():
        arrays[name] = samples.astype("f2")
        samples = arrays[name].astype("f4")
        answers[name] = {
            "percentile": [float(x) for x in histogram(samples, "percentile", True)[:2]],
            "asymmetric": [float(x) for x in histogram(samples, "percentile", False)[:2]],
            "entropy": [float(x) for x in histogram(samples, "entropy", False, 128)[:2]],
            "deviation": float(histogram(samples, "distribution", False).std),
            "positions": {kind: position(samples, kind) for kind in TYPES},
            "common": {kind: position(samples, kind, "MostCommon") for kind in TYPES},
        }
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(FOLDER / "samples.npz", **arrays)
    (FOLDER / "answers.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
