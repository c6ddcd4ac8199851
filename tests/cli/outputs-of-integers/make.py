"""Makes a model whose only output is of integers."""

import cli_models
import numpy as np
from onnx import TensorProto, helper

nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], "product"), helper.make_node("ArgMax", ["y"], ["label"], "label", axis=1)]
output = helper.make_tensor_value_info("label", TensorProto.INT64, [1, 1])
weights = [cli_models.tensor("w", cli_models.numbers(4, 4))]
cli_models.save(helper.make_graph(nodes, "net", [cli_models.value("x", [1, 4])], [output], weights))
np.save("x.npy", np.random.default_rng(3).normal(size=(24, 4)).astype(np.float32))
