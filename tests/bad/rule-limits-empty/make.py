"""GRU with a batch of 0."""

import onnx
from onnx import TensorProto, helper

node = helper.make_node("GRU", ["x", "w", "r"], ["y"], "gru", hidden_size=2)
graph = helper.make_graph(
    [node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [5, 0, 3])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    [helper.make_tensor("w", TensorProto.FLOAT, [1, 6, 3], [0.5] * 18),
     helper.make_tensor("r", TensorProto.FLOAT, [1, 6, 2], [0.5] * 12)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
