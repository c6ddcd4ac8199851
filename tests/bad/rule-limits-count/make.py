"""Attention without heads."""

import onnx
from onnx import TensorProto, helper

node = helper.make_node("Attention", ["q", "k", "v"], ["y"], "att", q_num_heads=0, kv_num_heads=2)
shape = [1, 4, 8]
graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "qkv"],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10), "model.onnx")
