"""A value between two layers that float16 does not hold; a second one only beside great inputs."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

nodes = [helper.make_node("MatMul", ["x", "wide"], ["great"], "up"),
         helper.make_node("Mul", ["great", "small"], ["back"], "down"),
         helper.make_node("Relu", ["back"], ["kept"], "relu"),
         helper.make_node("MatMul", ["kept", "last"], ["y"], "end")]
weights = {"wide": np.full((4, 4), 2000, "f4"), "small": np.full((1,), 1e-3, "f4"), "last": np.eye(4, dtype="f4")}
graph = helper.make_graph(nodes, "overflow", [helper.make_tensor_value_info("x", 1, [1, 4])],
                          [helper.make_tensor_value_info("y", 1, [1, 4])],
                          [numpy_helper.from_array(value, name) for name, value in weights.items()])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
np.save("x.npy", np.full((1, 4), 10, "f4"))
np.save("small.npy", np.full((1, 4), 1, "f4"))
