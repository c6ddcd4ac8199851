"""Makes a model that has only integers, which calibration does not record."""

import cli_models
from onnx import TensorProto, helper

graph = helper.make_graph(
    [helper.make_node("Add", ["x", "x"], ["y"])],
    "integers",
    [cli_models.value("x", [1, 4], TensorProto.INT64)],
    [cli_models.value("y", [1, 4], TensorProto.INT64)],
)
cli_models.save(graph)
