"""Makes models on which passes have something to change."""

from cli_models import numbers, save, tensor, value
from onnx import helper

save(helper.make_graph(
    [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
     helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"], name="bn"),
     helper.make_node("Relu", ["n"], ["y"], name="relu")],
    "normalized", [value("x", [1, 3, 8, 8])], [value("y", [1, 4, 6, 6])],
    [tensor("w", numbers(4, 3, 3, 3)), tensor("s", numbers(4)), tensor("b", numbers(4)), tensor("m", numbers(4)),
     tensor("v", numbers(4) * 1e6 + 2e6)]), opset=15)  # fmt: skip
save(helper.make_graph(
    [helper.make_node("Transpose", ["w"], ["t"], name="turn"), helper.make_node("MatMul", ["x", "t"], ["y"], name="product")],
    "folds", [value("x", [1, 3])], [value("y", [1, 3])], [tensor("w", numbers(3, 3))]), "folds.onnx")  # fmt: skip
