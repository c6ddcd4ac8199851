"""Makes models whose only output is of integers: classes of a product, and of the input itself."""

import cli_models
import numpy as np
from onnx import TensorProto, helper


def save(path, nodes, *weights):
    output = helper.make_tensor_value_info("label", TensorProto.INT64, [1, 1])
    graph = helper.make_graph(nodes, "net", [cli_models.value("x", [1, 4])], [output], list(weights))
    cli_models.save(graph, path)


product = helper.make_node("MatMul", ["x", "w"], ["y"], "product")
weight = cli_models.tensor("w", cli_models.numbers(4, 4))
save("model.onnx", [product, helper.make_node("ArgMax", ["y"], ["label"], "label", axis=1)], weight)
save("given.onnx", [product, helper.make_node("ArgMax", ["x"], ["label"], "label", axis=1)], weight)
np.save("x.npy", np.random.default_rng(3).normal(size=(24, 4)).astype(np.float32))
