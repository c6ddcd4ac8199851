"""Makes a model that depends on the last bits of an average, which the NPU computes with a rounded divisor."""

import numpy as np
from onnx import helper

import cli_models

rng = np.random.default_rng(3)
nodes = [
    helper.make_node("Conv", ["x", "w", "b"], ["features"], "conv", pads=[1, 1, 1, 1]),
    helper.make_node("GlobalAveragePool", ["features"], ["mean"], "pool"),
    helper.make_node("Sub", ["mean", "ones"], ["y"], "sub"),
]
constants = [
    cli_models.tensor("w", (rng.normal(size=(8, 3, 3, 3)) / 1e5).astype(np.float32)),
    cli_models.tensor("b", np.ones(8, np.float32)),
    cli_models.tensor("ones", np.ones((1, 8, 1, 1), np.float32)),
]
graph = helper.make_graph(nodes, "net", [cli_models.value("x", [1, 3, 7, 7])], [cli_models.value("y", [1, 8, 1, 1])], constants)
cli_models.save(graph, "model.onnx")
np.save("x.npy", rng.normal(size=(16, 3, 7, 7)).astype(np.float32))
