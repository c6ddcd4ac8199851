"""Makes a model as converters to float16 leave it: a node before the one that gives its input, and a constant whose
declaration has another type. ONNX Runtime runs it."""

import cli_models
import numpy as np
import onnx
from onnx import helper

nodes = [
    helper.make_node("Relu", ["a"], ["r"], "late"),
    helper.make_node("Conv", ["x", "w"], ["a"], "conv", kernel_shape=[1, 1]),
    helper.make_node("Mul", ["r", "k"], ["y"], "scale"),
]
weights = [cli_models.tensor("w", cli_models.numbers(4, 3, 1, 1)), cli_models.tensor("k", np.float32(0.5))]
graph = helper.make_graph(nodes, "net", [cli_models.value("x", [1, 3, 8, 8])], [cli_models.value("y", [1, 4, 8, 8])], weights)
graph.value_info.append(helper.make_tensor_value_info("k", onnx.TensorProto.FLOAT16, []))
cli_models.save(graph)
np.save("x.npy", np.random.default_rng(3).normal(size=(8, 3, 8, 8)).astype(np.float32))
