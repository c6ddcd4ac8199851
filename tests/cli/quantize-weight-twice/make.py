"""Makes a model whose weight is stored as integers and as floats."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(7)
weight = numpy_helper.from_array(random.normal(size=(160, 160)).astype("f4"), "both")
nodes = [
    helper.make_node("MatMul", ["x", "both"], ["a"], "one"),
    helper.make_node("MatMul", ["a", "both"], ["y"], "two"),
]
ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 160]) for name in ("x", "y")]
graph = helper.make_graph(nodes, "twice", ports[:1], ports[1:], [weight])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
np.save("x.npy", random.normal(size=(4, 160)).astype("f4"))
