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
# Each head of a detector joins boxes with scores, slices of one tensor, and a Concat joins the heads.
heads, weights = [], []
for k in "ab":
    heads += [
        node("Conv", ["x", f"w{k}"], [f"{k}0"], f"conv_{k}", kernel_shape=[1, 1]),
        node("Sigmoid", [f"{k}0"], [f"{k}1"], f"sure_{k}"),
        node("Slice", [f"{k}1", "zero", "four", "one"], [f"{k}2"], f"cut_{k}"),
        node("Mul", [f"{k}2", "stride"], [f"{k}3"], f"stride_{k}"),
        node("Slice", [f"{k}1", "four", "six", "one"], [f"{k}4"], f"scores_{k}"),
        node("Concat", [f"{k}3", f"{k}4"], [f"{k}5"], f"join_{k}", axis=1),
        node("Reshape", [f"{k}5", "flat"], [f"{k}6"], f"flat_{k}"),
    ]
    weights += [cli_models.tensor(f"w{k}", 3 * cli_models.numbers(6, 3, 1, 1))]
heads += [node("Concat", ["a6", "b6"], ["y"], "join", axis=2)]
weights += [cli_models.tensor(name, np.int64([n])) for name, n in (("zero", 0), ("one", 1), ("four", 4), ("six", 6))]
weights += [cli_models.tensor("stride", np.float32(900)), cli_models.tensor("flat", np.int64([1, 6, 64]))]
graph = helper.make_graph(heads, "heads", [cli_models.value("x", [1, 3, 8, 8])], [cli_models.value("y", [1, 6, 128])], weights)
cli_models.save(graph, "heads.onnx")
np.save("x.npy", np.random.default_rng(3).normal(size=(32, 3, 8, 8)).astype(np.float32))
