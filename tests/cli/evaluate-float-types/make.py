"""Makes models with inputs and outputs of several types."""

import os

import numpy as np
import onnx
from onnx import TensorProto, helper

import cli_models
import evaluate_made

evaluate_made.models()
HALVES = {"half": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16, "double": TensorProto.DOUBLE, "whole": TensorProto.INT32}
for name, kind in HALVES.items():
    model = onnx.load("model.onnx")
    model.graph.input[0].type.tensor_type.elem_type = kind
    for node in model.graph.node:
        node.input[:] = ["wide" if one == "x" else one for one in node.input]
    model.graph.node.insert(0, helper.make_node("Cast", ["x"], ["wide"], "cast", to=TensorProto.FLOAT))
    cli_models.save(model.graph, f"{name}.onnx")
model = onnx.load("model.onnx")
model.graph.input.append(cli_models.value("mask", ["N", 8]))
model.graph.node.append(helper.make_node("Neg", ["mask"], ["unused"], "neg"))
model.graph.output.append(cli_models.value("unused", ["N", 8]))
cli_models.save(model.graph, "masked.onnx")
os.mkdir("big")
np.save("big/a.npy", np.full((1, 8), 1e6, np.float32))
