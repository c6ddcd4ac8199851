"""Makes a model with two inputs, whose random values have ranges of their own."""

import onnx
from onnx import TensorProto, helper

node = helper.make_node("Gemm", ["x", "w"], ["h"], "gemm")
add = helper.make_node("Add", ["h", "z"], ["y"], "add")
graph = helper.make_graph(
    [node, add], "g",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2]), helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 2])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])],
    [helper.make_tensor("w", TensorProto.FLOAT, [2, 2], [1.0, 0.0, 0.0, 1.0])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
