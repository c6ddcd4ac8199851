"""A network of an operator that no integer type has, and samples for it."""

import numpy as np
from onnx import helper

from cli_models import save, value

node = helper.make_node("Sin", ["x"], ["y"], "turn")
save(helper.make_graph([node], "net", [value("x", [1, 8])], [value("y", [1, 8])], []), "model.onnx")
np.save("x.npy", np.random.default_rng(0).normal(size=(16, 8)).astype(np.float32))
