"""Compares the weights and SQNR of rounding reconstruction with nearest rounding."""

import json

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper


def weights(path):
    graph = onnx.load(path).graph
    return {one.name: numpy_helper.to_array(one).astype(int) for one in graph.initializer if one.name.endswith("weight_quantized")}


def outputs(path):
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    session = onnxruntime.InferenceSession(path, options)
    return np.concatenate([session.run(None, {"image": one[None]})[0] for one in np.load("x.npy")[12:]])


def sqnr(path):
    wanted, found = outputs("model.onnx"), outputs(path)
    return 10 * np.log10((wanted**2).sum() / ((wanted - found) ** 2).sum())


report = json.load(open("one.json"))["rounding"]
print(report["samples"], report["samples_aside"], report["kept"], *(layer["name"] for layer in report["layers"]))
print("as told:", abs(report["solved_db"] - sqnr("one.onnx")) < 0.01, abs(report["nearest_db"] - sqnr("nearest.onnx")) < 0.01)
print("better:", report["solved_db"] > report["nearest_db"], all(one["solved_db"] > one["nearest_db"] for one in report["layers"] if one["kept"]))
for name, nearest in weights("nearest.onnx").items():
    moved = weights("one.onnx")[name] - nearest
    print(name, "neighbours:", np.abs(moved).max() <= 1, "moved:", bool(moved.any()))
