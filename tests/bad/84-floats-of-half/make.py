"""Makes a model with a float16 tensor for Quark's float operators."""

import numpy as np
from onnx import TensorProto, helper

import cli_models

HALF = TensorProto.FLOAT16
nodes = [
    helper.make_node("Cast", ["x"], ["half"], "cast", to=HALF),
    helper.make_node("MatMul", ["half", "w"], ["y"], "product"),
    helper.make_node("Relu", ["x"], ["z"], "relu"),
]
weights = [cli_models.tensor("w", cli_models.numbers(4, 4, dtype=np.float16))]
ports = [cli_models.value("y", ["N", 4], HALF), cli_models.value("z", ["N", 4])]
cli_models.save(helper.make_graph(nodes, "half", [cli_models.value("x", ["N", 4])], ports, weights))
