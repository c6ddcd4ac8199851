"""Makes a model that several passes change."""

from onnx import helper

import cli_models

graph = helper.make_graph(
    [
        helper.make_node("Identity", ["x"], ["same"], "identity"),
        helper.make_node("MatMul", ["same", "w"], ["product"], "product"),
        helper.make_node("Add", ["product", "b"], ["y"], "add"),
    ],
    "g",
    [cli_models.value("x", ["N", 4])],
    [cli_models.value("y", ["N", 3])],
    [cli_models.tensor("w", cli_models.numbers(4, 3)), cli_models.tensor("b", cli_models.numbers(3))],
)
cli_models.save(graph)
