"""Makes a model, samples, and what other tools make of such: names, Constant nodes, casts."""

import numpy as np
import onnx
from onnx import TensorProto, helper

import cli_models

cli_models.net(batch=1)
np.save("x.npy", cli_models.numbers(6, 3, 8, 8))

w = cli_models.numbers(32, 4)
table = [cli_models.value("x", [1, 32])], [cli_models.value("y", [1, 4])]
cli_models.save(helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "fc")], "g", *table,
                                  [cli_models.tensor("w", w)]), "matmul.onnx")  # fmt: skip


def constant(name, value):
    return helper.make_node("Constant", [], [name], value=onnx.numpy_helper.from_array(np.array(value)))


# As PyTorch exports: parameters are Constant nodes, the weight is float and has a pair of its own.
nodes = [
    constant("s", np.float32(0.125)), constant("z", np.int8(0)),
    helper.make_node("QuantizeLinear", ["x", "s", "z"], ["x_QuantizeLinear_Output"]),
    helper.make_node("DequantizeLinear", ["x_QuantizeLinear_Output", "s", "z"], ["x_DequantizeLinear_Output"]),
    helper.make_node("QuantizeLinear", ["w", "s", "z"], ["w_QuantizeLinear_Output"]),
    helper.make_node("DequantizeLinear", ["w_QuantizeLinear_Output", "s", "z"], ["w_DequantizeLinear_Output"]),
    helper.make_node("MatMul", ["x_DequantizeLinear_Output", "w_DequantizeLinear_Output"], ["y"], "fc"),
]
cli_models.save(helper.make_graph(nodes, "g", *table, [cli_models.tensor("w", w)]), "pairs.onnx")

# The same with a weight of blocks of eight, stored as integers of another name, and the scale twice as great
# in the last block.
scales = np.full((4, 4), 0.125, np.float32)
scales[3] *= 2
levels = np.clip(np.rint(w / np.repeat(scales, 8, axis=0)), -128, 127).astype(np.int8)
nodes = [
    constant("s", np.float32(0.125)), constant("z", np.int8(0)),
    helper.make_node("QuantizeLinear", ["x", "s", "z"], ["x_quantized"]),
    helper.make_node("DequantizeLinear", ["x_quantized", "s", "z"], ["x_dequantized"]),
    helper.make_node("DequantizeLinear", ["fc.levels", "fc.scales"], ["fc.w"], axis=0, block_size=8),
    helper.make_node("MatMul", ["x_dequantized", "fc.w"], ["y"], "fc_quant"),
]
constants = [cli_models.tensor("fc.levels", levels), cli_models.tensor("fc.scales", scales)]
cli_models.save(helper.make_graph(nodes, "g", *table, constants), "blocks.onnx", 21, ir_version=10)

# Values pass through bfloat16, and the weight is stored so.
nodes = [
    helper.make_node("Cast", ["x"], ["x_narrow"], to=TensorProto.BFLOAT16),
    helper.make_node("Cast", ["x_narrow"], ["x_wide"], to=TensorProto.FLOAT),
    helper.make_node("Cast", ["w"], ["w_wide"], to=TensorProto.FLOAT),
    helper.make_node("MatMul", ["x_wide", "w_wide"], ["y"], "fc"),
]
narrow = helper.make_tensor("w", TensorProto.BFLOAT16, w.shape, (w.view(np.uint32).ravel() >> 16).astype(np.uint16).tobytes(), raw=True)
cli_models.save(helper.make_graph(nodes, "g", *table, [narrow]), "casts.onnx")

# As ONNX Runtime's dynamic quantization.
nodes = [
    helper.make_node("DynamicQuantizeLinear", ["x"], ["x_quantized", "x_scale", "x_zero_point"], "x_QuantizeLinear"),
    helper.make_node("MatMulInteger", ["x_quantized", "w_quantized", "x_zero_point", "w_zero_point"],
                     ["y_output_quantized"], "fc_quant"),
    helper.make_node("Cast", ["y_output_quantized"], ["y_cast"], to=TensorProto.FLOAT),
    helper.make_node("Mul", ["x_scale", "w_scale"], ["scales"], "scales"),
    helper.make_node("Mul", ["y_cast", "scales"], ["y"], "scale"),
]  # fmt: skip
constants = [cli_models.tensor("w_quantized", np.rint(w * 8).astype(np.int8)),
             cli_models.tensor("w_zero_point", np.int8(0)), cli_models.tensor("w_scale", np.float32(0.125))]
cli_models.save(helper.make_graph(nodes, "g", *table, constants), "dynamic.onnx")
