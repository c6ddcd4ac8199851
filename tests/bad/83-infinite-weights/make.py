"""Makes a model whose weights have infinities and NaN."""

import numpy as np
from onnx import helper

import cli_models

weights = cli_models.numbers(4, 4)
weights[1, 2] = np.inf
weights[3, 3] = np.nan
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "w"], ["y"], "product")],
    "infinite",
    [cli_models.value("x", ["N", 4])],
    [cli_models.value("y", ["N", 4])],
    [cli_models.tensor("w", weights)],
)
cli_models.save(graph)
