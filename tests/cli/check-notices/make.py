"""Makes a model with unnamed nodes, of which `check` gives notice."""

from onnx import helper

import cli_models

graph = helper.make_graph(
    [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Neg", ["a"], ["y"])], "g",
    [cli_models.value("x", [4])], [cli_models.value("y", [4])])
cli_models.save(graph)
