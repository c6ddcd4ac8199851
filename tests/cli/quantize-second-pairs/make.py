"""Two layers that read what a third one gives."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

nodes = [
    helper.make_node("Conv", ["x", "w0"], ["c"], "first"),
    helper.make_node("Conv", ["c", "w1"], ["a"], "one"),
    helper.make_node("Conv", ["c", "w2"], ["b"], "two"),
    helper.make_node("Add", ["a", "b"], ["y"], "sum"),
]
graph = helper.make_graph(
    nodes, "second",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 4, 4])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 4, 4])],
    [numpy_helper.from_array(np.full((4, 4, 1, 1), 0.25, "f4"), f"w{i}") for i in range(3)],
)  # fmt: skip
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), "model.onnx")
