"""Makes a model of opset 9, which has to be converted."""

from cli_models import numbers, save, tensor, value
from onnx import helper

save(helper.make_graph(
    [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"), helper.make_node("Clip", ["c"], ["y"], name="clip", min=0.0, max=6.0)],
    "old", [value("x", [1, 3, 8, 8])], [value("y", [1, 4, 6, 6])], [tensor("w", numbers(4, 3, 3, 3))]), opset=9)
