"""Makes a model in which two layers share a weight."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(7)
weights = [numpy_helper.from_array(random.normal(size=(8, 8)).astype("f4"), name) for name in ("own", "both")]
nodes = [
    helper.make_node("MatMul", ["x", "own"], ["a"], "one"),
    helper.make_node("MatMul", ["a", "both"], ["b"], "two"),
    helper.make_node("MatMul", ["b", "both"], ["y"], "three"),
]
ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8]) for name in ("x", "y")]
graph = helper.make_graph(nodes, "shared", ports[:1], ports[1:], weights)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
np.save("x.npy", random.normal(size=(16, 8)).astype("f4"))
