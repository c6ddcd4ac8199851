"""Makes a model with a tensor that is always zero."""

import cli_models
import numpy as np
from onnx import helper

nodes = [
    helper.make_node("Mul", ["x", "zero"], ["a"]),
    helper.make_node("Add", ["a", "one"], ["b"]),
    helper.make_node("Add", ["b", "x"], ["y"]),
]
graph = helper.make_graph(
    nodes,
    "constant",
    [cli_models.value("x", [1, 4])],
    [cli_models.value("y", [1, 4])],
    [cli_models.tensor("zero", np.float32([0])), cli_models.tensor("one", np.float32([1]))],
)
cli_models.save(graph)
