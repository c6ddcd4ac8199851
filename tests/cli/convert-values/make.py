"""Makes a model whose constants do not fit float16."""

import numpy as np
from cli_models import save, tensor, value
from onnx import helper

graph = helper.make_graph(
    [helper.make_node("Add", ["x", "k"], ["a"], name="add"), helper.make_node("Div", ["a", "tiny"], ["b"], name="div"),
     helper.make_node("Mul", ["b", "small"], ["y"], name="mul")],
    "values", [value("x", [4])], [value("y", [4])],
    [tensor("k", np.array([1, np.inf, np.nan, 2], np.float32)), tensor("tiny", np.float32(1e-12)),
     tensor("small", np.array([1, 1e-9, 1e-9, 1], np.float32))])  # fmt: skip
save(graph)
