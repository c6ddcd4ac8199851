"""A net whose two paths meet again, and samples of two sizes."""

import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(3)
down = rng.normal(size=(4, 3, 3, 3)).astype(np.float32)
keep = rng.normal(size=(4, 3, 1, 1)).astype(np.float32)
nodes = [
    helper.make_node("Conv", ["x", "down"], ["small"], "down", strides=[2, 2], pads=[1, 1, 1, 1]),
    helper.make_node("Relu", ["small"], ["positive"], "relu"),
    helper.make_node("Resize", ["positive", "", "scales"], ["large"], "large", mode="nearest"),
    helper.make_node("Conv", ["x", "keep"], ["kept"], "keep"),
    helper.make_node("Add", ["large", "kept"], ["y"], "sum"),
]
open_sides = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, "height", "width"])
graph = helper.make_graph(
    nodes, "mixed", [open_sides], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, None, None])],
    [numpy_helper.from_array(down, "down"), numpy_helper.from_array(keep, "keep"),
     numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales")])  # fmt: skip
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")

# 24 * 40 and 48 * 80: sides of the same mean are no whole numbers, and 62 / 2 would not meet 62.
os.mkdir("samples")
for place, (height, width) in enumerate(((24, 40), (48, 80))):
    np.savez(f"samples/{place}.npz", x=rng.normal(size=(1, 3, height, width)).astype(np.float32))
