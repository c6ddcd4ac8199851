"""Makes models that are quantized without Q/DQ pairs."""

from onnx import TensorProto, helper

import cli_models

x, y = cli_models.value("x", [2, 4]), cli_models.value("y", [2, 4])
integer = helper.make_graph(
    [helper.make_node("MatMulInteger", ["a", "w"], ["i"])], "g",
    [cli_models.value("a", [2, 4], TensorProto.UINT8), cli_models.value("w", [4, 4], TensorProto.INT8)],
    [cli_models.value("i", [2, 4], TensorProto.INT32)],
)
cli_models.save(integer, "operator.onnx")
extended = helper.make_graph(
    [helper.make_node("BFPQuantizeDequantize", ["x"], ["y"], domain="com.amd.quark")], "g", [x], [y])
cli_models.save(extended, "custom.onnx", [("", 17), ("com.amd.quark", 1)])
weight = helper.make_graph(
    [helper.make_node("MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft",
                      K=4, N=4, bits=4, block_size=16)], "g", [x], [y],
    [cli_models.tensor("w", cli_models.numbers(4, 1, 8, dtype="uint8")),
     cli_models.tensor("s", cli_models.numbers(4))])
cli_models.save(weight, "weight.onnx", [("", 17), ("com.microsoft", 1)])
