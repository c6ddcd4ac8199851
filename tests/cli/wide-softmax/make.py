"""Makes a Softmax over so many places that most of its values are below half a step of 8 bits."""

import cli_models
import numpy as np
import onnx
from onnx import TensorProto, helper

rng = np.random.default_rng(5)
WIDTH, PLACES = 8, 256

nodes = [
    helper.make_node("MatMul", ["x", "w"], ["scores"], "scores"),
    helper.make_node("Softmax", ["scores"], ["shares"], "softmax"),
    helper.make_node("MatMul", ["shares", "v"], ["y"], "values"),
]
constants = [cli_models.tensor("w", (rng.standard_normal((WIDTH, PLACES)) / 4).astype("f4")),
             cli_models.tensor("v", (1 + rng.standard_normal((PLACES, WIDTH))).astype("f4"))]
ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4, WIDTH]) for name in ("x", "y")]
graph = helper.make_graph(nodes, "attention", ports[:1], ports[1:], constants)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
np.save("x.npy", rng.standard_normal((32, 4, WIDTH)).astype("f4"))
