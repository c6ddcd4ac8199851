"""Softmax over an axis that its input does not have."""

import onnx
from onnx import TensorProto, helper

node = helper.make_node("Softmax", ["x"], ["y"], "soft", axis=3)
graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 8])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 8])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
