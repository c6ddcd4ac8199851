import numpy as np
from onnx import TensorProto, helper

import cli_models

half = TensorProto.FLOAT16
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "w"], ["y"], "product")], "g",
    [cli_models.value("x", [2, 4], half)], [cli_models.value("y", [2, 3], half)],
    [cli_models.tensor("w", cli_models.numbers(4, 3, dtype=np.float16))],
)  # fmt: skip
cli_models.save(graph)
