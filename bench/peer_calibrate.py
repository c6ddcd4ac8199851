"""Calibrates with a peer, in its own environment; prints seconds and what it chose.

    peer_calibrate.py quark|ort METHOD MODEL DATA LIMIT [RANGES]

METHOD is MinMax, Percentile or Entropy, with quark also MinMSE (power-of-two scales) and
NonOverflow. The time is that of the peer's calls that build the calibrator, collect and
compute; not of imports, nor of inferring the shapes that the peers want to find beforehand.
RANGES becomes a JSON object: tensor -> [low, high].
"""

import glob
import json
import logging
import os
import sys
import tempfile
import time

import numpy as np
import onnx
from onnxruntime.quantization.calibrate import CalibrationDataReader


class Reader(CalibrationDataReader):
    def __init__(self, folder, limit):
        self.paths = sorted(glob.glob(os.path.join(folder, "*.npz")))[:limit]
        self.rewind()

    def rewind(self):
        self.rest = iter(self.paths)

    def get_next(self):
        path = next(self.rest, None)
        if path is None:
            return None
        with np.load(path) as archive:
            return {name: archive[name] for name in archive.files}

    def __len__(self):
        return len(self.paths)


def inferred(path, folder):
    """The peers calibrate only tensors with a declared type."""
    out = os.path.join(folder, "inferred.onnx")
    onnx.shape_inference.infer_shapes_path(path, out)
    return out


def quark(method, model, reader, folder):
    from onnxruntime.quantization.calibrate import CalibrationMethod
    from onnxruntime.quantization.quant_utils import QuantType
    from quark.onnx import PowerOfTwoMethod
    from quark.onnx.calibration.calibrate import calibrate_model

    methods = PowerOfTwoMethod if method in ("MinMSE", "NonOverflow") else CalibrationMethod
    start = time.perf_counter()
    ranges = calibrate_model(model, reader, activation_type=QuantType.QInt8,
                             calibrate_method=getattr(methods, method))
    return ranges, time.perf_counter() - start


def ort(method, model, reader, folder):
    from onnxruntime.quantization.calibrate import CalibrationMethod, create_calibrator

    start = time.perf_counter()
    calibrator = create_calibrator(model, None, os.path.join(folder, "augmented.onnx"),
                                   calibrate_method=getattr(CalibrationMethod, method))
    calibrator.collect_data(reader)
    return calibrator.compute_data(), time.perf_counter() - start


def bounds(data):
    """[low, high] of what the peers call TensorData, or of a plain pair."""
    pair = data.range_value if hasattr(data, "range_value") else data[:2]
    return [float(np.asarray(bound).ravel()[0]) for bound in pair]


def main(peer, method, model, data, limit, ranges_path=None):
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        path = inferred(model, folder)
        ranges, seconds = {"quark": quark, "ort": ort}[peer](method, path, Reader(data, int(limit)), folder)
        if ranges_path:
            with open(ranges_path, "w") as file:
                json.dump({name: bounds(data) for name, data in ranges.items()}, file)
    print(json.dumps({"seconds": seconds, "tensors": len(ranges.keys())}))


if __name__ == "__main__":
    main(*sys.argv[1:])
