"""Split and MaxPool whose first output is left out."""

import onnx
from onnx import TensorProto, helper

nodes = [helper.make_node("Split", ["x"], ["", "y"], "split", axis=0),
         helper.make_node("MaxPool", ["i"], ["", "z"], "pool", kernel_shape=[2])]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4]),
                                       helper.make_tensor_value_info("i", TensorProto.FLOAT, [1, 1, 8])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2]),
                           helper.make_tensor_value_info("z", TensorProto.INT64, None)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
