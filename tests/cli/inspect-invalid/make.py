"""Makes a model with an error, which `inspect` still shows."""

from onnx import helper

import cli_models

graph = helper.make_graph(
    [helper.make_node("Relu", ["nothing"], ["y"], "relu")], "g", [cli_models.value("x", [4])],
    [cli_models.value("y", [4])])
cli_models.save(graph)
