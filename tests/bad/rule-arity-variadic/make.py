"""Max with an empty name among its inputs."""

import onnx
from onnx import TensorProto, helper

node = helper.make_node("Max", ["x", ""], ["y"], "max")
graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
