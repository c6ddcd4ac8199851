"""Makes models of opset 9 and 10, which have to be converted."""

from cli_models import numbers, save, tensor, value
from onnx import helper

for name, clip, opset in (("model.onnx", {"min": 0.0, "max": 6.0}, 9), ("ten.onnx", None, 10)):
    last = helper.make_node("Clip", ["c"], ["y"], name="clip", **clip) if clip else helper.make_node("Relu", ["c"], ["y"], name="relu")
    save(helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"), last],
        "old", [value("x", [1, 3, 8, 8])], [value("y", [1, 4, 6, 6])], [tensor("w", numbers(4, 3, 3, 3))]), name, opset=opset)
