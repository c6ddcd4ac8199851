"""Makes a network that joins what a HardSigmoid gives with values a hundred times as large."""

import cli_models
import numpy as np
from onnx import helper

graph = helper.make_graph(
    [
        helper.make_node("Conv", ["x", "w"], ["scores"], "conv", kernel_shape=[1, 1]),
        helper.make_node("HardSigmoid", ["scores"], ["chances"], "sigmoid", alpha=1 / 6, beta=0.5),
        helper.make_node("Conv", ["x", "far"], ["boxes"], "wide", kernel_shape=[1, 1]),
        helper.make_node("Concat", ["boxes", "chances"], ["y"], "join", axis=1),
    ],
    "contradiction",
    [cli_models.value("x", [1, 2, 4, 4])],
    [cli_models.value("y", [1, 4, 4, 4])],
    [
        cli_models.tensor("w", np.float32([[1, -1], [0.5, 2]]).reshape(2, 2, 1, 1)),
        cli_models.tensor("far", np.float32([[300, 10], [20, -400]]).reshape(2, 2, 1, 1)),
    ],
)
cli_models.save(graph, "model.onnx")
