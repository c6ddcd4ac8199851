"""Makes a model of any rank and a sample."""

import numpy as np
from onnx import helper

import cli_models

graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "any",
                          [cli_models.value("x", None)], [cli_models.value("y", None)])  # fmt: skip
cli_models.save(graph)
np.save("a.npy", np.ones((1, 2, 3), np.float32))
