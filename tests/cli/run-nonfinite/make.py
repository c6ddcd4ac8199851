"""Makes a sample with NaN and infinity."""

import numpy as np
from onnx import helper

import cli_models

graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], "relu")], "g",
                          [cli_models.value("x", [4])], [cli_models.value("y", [4])])
cli_models.save(graph)
np.save("x.npy", np.array([1, -2, np.inf, np.nan], np.float32))
