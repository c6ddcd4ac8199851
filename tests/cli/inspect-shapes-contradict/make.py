"""Makes a model that declares a wrong shape."""

from onnx import helper

import cli_models

graph = helper.make_graph(
    [helper.make_node("Relu", ["x"], ["y"], "relu")], "g", [cli_models.value("x", [4])],
    [cli_models.value("y", [5])])
cli_models.save(graph)
