"""value_info with another shape than the output."""

import onnx
from onnx import TensorProto, helper

node = helper.make_node("Relu", ["x"], ["y"], "relu")
graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
                          value_info=[helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
