"""Makes a model whose activations in 4 bits ONNX Runtime takes only with optimizations disabled."""

import onnx
from onnx import TensorProto, helper

node = helper.make_node("Conv", ["x", "w"], ["y"], "conv")
graph = helper.make_graph(
    [node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 4, 4])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 2, 2])],
    [helper.make_tensor("w", TensorProto.FLOAT, [2, 2, 3, 3], [i / 36 - 0.5 for i in range(36)])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
