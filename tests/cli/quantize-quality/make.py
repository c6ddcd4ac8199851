"""Makes a model of one output, one of several, and samples for measuring."""

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h

import cli_models

samples = cli_models.smooth_net()
np.save("x.npy", samples)
np.save("others.npy", samples[::-1])
for count in (1, 2, 8):
    np.save(f"x{count}.npy", samples[:count])

# Outputs: a product, one that is always 3, one that is always 0, whole numbers.
shape = [1, 4]
nodes = [
    h.make_node("MatMul", ["x", "w"], ["product"], "matmul"),
    h.make_node("Mul", ["product", "zero"], ["silent"], "mul"),
    h.make_node("Add", ["silent", "three"], ["constant"], "add"),
    h.make_node("ArgMax", ["product"], ["best"], "argmax", keepdims=0, axis=1),
]
weights = np.random.default_rng(1).normal(size=(4, 4)).astype(np.float32)
constants = {"w": weights, "zero": np.zeros(4, np.float32), "three": np.full(4, 3, np.float32)}
floats = [h.make_tensor_value_info(name, T.FLOAT, shape) for name in ("product", "constant", "silent")]
graph = h.make_graph(nodes, "several", [h.make_tensor_value_info("x", T.FLOAT, shape)],
                     [*floats, h.make_tensor_value_info("best", T.INT64, [1])],
                     [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()])  # fmt: skip
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), "several.onnx")
np.save("rows.npy", np.random.default_rng(2).normal(size=(8, 4)).astype(np.float32))
whole = h.make_graph([nodes[0], nodes[3]], "whole", list(graph.input), [graph.output[3]], [graph.initializer[0]])
onnx.save(h.make_model(whole, opset_imports=[h.make_opsetid("", 17)], ir_version=8), "whole.onnx")

# Products beyond what float16 can hold.
graph = h.make_graph([h.make_node("MatMul", ["x", "w"], ["y"], "matmul")], "large",
                     [h.make_tensor_value_info("x", T.FLOAT, shape)], [h.make_tensor_value_info("y", T.FLOAT, shape)],
                     [onnx.numpy_helper.from_array(np.eye(4, dtype=np.float32) * 40000, "w")])  # fmt: skip
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), "large.onnx")
