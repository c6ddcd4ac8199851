"""Makes a model with two errors."""

from onnx import helper

import cli_models

graph = helper.make_graph(
    [helper.make_node("Relu", ["nothing"], ["y"], "relu"),
     helper.make_node("Neg", ["neither"], ["z"], "neg")], "g", [cli_models.value("x", [4])],
    [cli_models.value("y", [4]), cli_models.value("z", [4])])
cli_models.save(graph)
