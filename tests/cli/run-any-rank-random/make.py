"""Makes a model of any rank for random samples."""

from onnx import helper

import cli_models

graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "any",
                          [cli_models.value("x", None)], [cli_models.value("y", None)])  # fmt: skip
cli_models.save(graph)
