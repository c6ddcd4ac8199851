"""Makes a model whose tensors become infinite or NaN."""

import os

import cli_models
import numpy as np
from onnx import helper

nodes = [
    helper.make_node("Log", ["x"], ["log"]),
    helper.make_node("Sqrt", ["log"], ["y"]),
    helper.make_node("Sub", ["inf", "inf"], ["nothing"]),
    helper.make_node("Add", ["nothing", "x"], ["z"]),
]
graph = helper.make_graph(
    nodes,
    "nonfinite",
    [cli_models.value("x", ["N", 4])],
    [cli_models.value("y", ["N", 4]), cli_models.value("z", ["N", 4])],
    [cli_models.tensor("inf", np.float32([np.inf]))],
)
cli_models.save(graph)
os.mkdir("data")
np.save("data/a.npy", np.float32([[1, 2, 3, 4]]))
np.save("data/b.npy", np.float32([[1, 0, -1, 4]]))
np.save("data/c.npy", np.float32([[0.5, 2, 3, 4]]))
