"""x * clip(x + 3, 0, 6): without the limit it would be a square."""

from cli_models import numbers, save, tensor, value
from onnx import helper

save(helper.make_graph(
    [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"), helper.make_node("Add", ["c", "three"], ["a"], name="add"),
     helper.make_node("Clip", ["a", "zero", "six"], ["limited"], name="clip"),
     helper.make_node("Mul", ["c", "limited"], ["y"], name="mul")],
    "swish", [value("x", [1, 3, 8, 8])], [value("y", [1, 4, 6, 6])],
    [tensor("w", numbers(4, 3, 3, 3) * 100), tensor("three", numbers(1) * 0 + 3), tensor("zero", numbers() * 0),
     tensor("six", numbers() * 0 + 6)]))
