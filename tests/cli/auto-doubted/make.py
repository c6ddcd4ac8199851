"""Makes a steep model, and samples of which only one that calibrates lies on the slope."""

import numpy as np
from onnx import helper

import cli_models

rng = np.random.default_rng(3)
weights = rng.normal(size=(16, 4)).astype(np.float32)
nodes = [
    helper.make_node("MatMul", ["x", "w"], ["sum"], "sum"),
    helper.make_node("Mul", ["sum", "steep"], ["more"], "more"),
    helper.make_node("Sigmoid", ["more"], ["y"], "sigmoid"),
]
constants = [cli_models.tensor("w", weights), cli_models.tensor("steep", np.float32([6]))]
graph = helper.make_graph(nodes, "net", [cli_models.value("x", [1, 1, 16])], [cli_models.value("y", [1, 1, 4])], constants)
cli_models.save(graph, "model.onnx")
samples = np.sign(rng.normal(size=(16, 1, 4))) @ np.linalg.pinv(weights) * 3 + rng.normal(size=(16, 1, 16)) / 50
samples[5] /= 100
np.save("x.npy", samples.astype(np.float32))
