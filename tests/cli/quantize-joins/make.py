"""Makes networks that join two branches, and scale, move or output what is joined."""

import cli_models
import numpy as np
from onnx import helper

node = helper.make_node


def save(name, far, nodes, shape):
    branches = [
        node("Conv", ["x", "far"], ["a"], "far", kernel_shape=[1, 1]),
        node("Conv", ["x", "near"], ["b"], "near", kernel_shape=[1, 1]),
        node("Concat", ["a", "b"], ["c"], "join", axis=1),
    ]
    weights = [
        cli_models.tensor("far", far * cli_models.numbers(4, 3, 1, 1)),
        cli_models.tensor("near", cli_models.numbers(4, 3, 1, 1)),
        cli_models.tensor("even", np.float32([1 / far] * 4 + [1] * 4).reshape(1, 8, 1, 1)),
        cli_models.tensor("shift", cli_models.numbers(1, 8, 1, 1) / 9),
        cli_models.tensor("last", cli_models.numbers(5, 8, 1, 1)),
    ]
    graph = helper.make_graph(
        branches + nodes, name, [cli_models.value("x", [1, 3, 8, 8])], [cli_models.value("y", shape)], weights
    )
    cli_models.save(graph, f"{name}.onnx")


last = node("Conv", ["n", "last"], ["y"], "last", kernel_shape=[1, 1])
scaled = [
    node("Mul", ["c", "even"], ["m"], "even"),
    node("Add", ["m", "shift"], ["n"], "shift"),
    last,
]
moved = [node("Transpose", ["c"], ["n"], "turn", perm=[0, 1, 3, 2]), last]
save("scaled", 500, scaled, [1, 5, 8, 8])
save("alike", 8, scaled, [1, 5, 8, 8])
save("moved", 500, moved, [1, 5, 8, 8])
# Detectors flatten what they join.
flat = [
    node("Conv", ["x", "far"], ["a"], "far", kernel_shape=[1, 1]),
    node("Conv", ["x", "near"], ["b"], "near", kernel_shape=[1, 1]),
    node("Reshape", ["a", "row"], ["p"], "flat_a"),
    node("Reshape", ["b", "row"], ["q"], "flat_b"),
    node("Concat", ["p", "q"], ["c"], "join", axis=1),
    node("Mul", ["c", "even"], ["y"], "even"),
]
weights = [
    cli_models.tensor("far", 500 * cli_models.numbers(4, 3, 1, 1)),
    cli_models.tensor("near", cli_models.numbers(4, 3, 1, 1)),
    cli_models.tensor("row", np.int64([1, 4, 64])),
    cli_models.tensor("even", np.float32([1 / 500] * 4 + [1] * 4).reshape(1, 8, 1)),
]
graph = helper.make_graph(flat, "flat", [cli_models.value("x", [1, 3, 8, 8])], [cli_models.value("y", [1, 8, 64])], weights)
cli_models.save(graph, "flat.onnx")
np.save("x.npy", np.random.default_rng(3).normal(size=(32, 3, 8, 8)).astype(np.float32))
