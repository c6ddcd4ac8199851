"""Makes a detector whose output joins boxes of hundreds of pixels with scores below 1."""

import cli_models
import numpy as np
from onnx import helper

node = helper.make_node
nodes = [
    node("Conv", ["x", "far"], ["steps"], "far", kernel_shape=[1, 1]),
    node("Mul", ["steps", "stride"], ["boxes"], "stride"),
    node("Conv", ["x", "near"], ["logits"], "near", kernel_shape=[1, 1]),
    node("Sigmoid", ["logits"], ["scores"], "sure"),
    node("Concat", ["boxes", "scores"], ["y"], "join", axis=1),
]
weights = [
    cli_models.tensor("far", cli_models.numbers(4, 3, 1, 1)),
    cli_models.tensor("near", 4 * cli_models.numbers(2, 3, 1, 1)),
    cli_models.tensor("stride", np.float32(300)),
]
graph = helper.make_graph(nodes, "net", [cli_models.value("x", [1, 3, 8, 8])], [cli_models.value("y", [1, 6, 8, 8])], weights)
cli_models.save(graph)
np.save("x.npy", np.random.default_rng(3).normal(size=(32, 3, 8, 8)).astype(np.float32))
