"""Makes a small encoder with uneven channels behind its norms, and one that has nothing to smooth."""

import cli_models
import numpy as np
import onnx
from onnx import TensorProto, helper

rng = np.random.default_rng(3)
WIDTH, PLACES = 16, 6


def normal(name, *shape):
    return cli_models.tensor(name, rng.standard_normal(shape).astype("f4") / 4)


def spread(name):
    return cli_models.tensor(name, np.exp2(rng.permutation(WIDTH) / 2 - 4).astype("f4"))


nodes = [
    helper.make_node("LayerNormalization", ["x", "g1", "b1"], ["n1"], "norm"),
    helper.make_node("MatMul", ["n1", "wq"], ["q"], "query"),
    helper.make_node("MatMul", ["n1", "wk"], ["k"], "key"),
    helper.make_node("Add", ["q", "k"], ["sum"], "join"),
    helper.make_node("LayerNormalization", ["sum", "g2", "b2"], ["n2"], "norm2"),
    helper.make_node("MatMul", ["n2", "w"], ["up"], "up"),
    helper.make_node("MatMul", ["x", "wr"], ["r"], "side"),
    helper.make_node("Add", ["up", "r"], ["y"], "residual"),
]
constants = [spread("g1"), normal("b1", WIDTH), spread("g2"), normal("b2", WIDTH)]
constants += [normal(name, WIDTH, WIDTH) for name in ("wq", "wk", "w", "wr")]
ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, PLACES, WIDTH]) for name in ("x", "y")]
graph = helper.make_graph(nodes, "encoder", ports[:1], ports[1:], constants)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
np.save("x.npy", rng.standard_normal((24, PLACES, WIDTH)).astype("f4"))

flat = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4]) for name in ("x", "y")]
weight = cli_models.tensor("w", np.linspace(-1, 1, 16, dtype="f4").reshape(4, 4))
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "only")], "g", flat[:1], flat[1:], [weight])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "only.onnx")
np.save("row.npy", np.linspace(-2, 2, 48, dtype="f4").reshape(12, 4))
