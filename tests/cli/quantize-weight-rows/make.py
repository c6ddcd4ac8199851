"""Makes a network with a product in which single weights of two rows are far above all others, and one whose rows are alike."""

import cli_models
import numpy as np
import onnx
from onnx import TensorProto, helper

rng = np.random.default_rng(4)
WIDTH, PLACES = 64, 6


def save(path, peak):
    weight = (rng.standard_normal((WIDTH, WIDTH)) / 8).astype("f4")
    weight[5, 7], weight[40, 9] = peak, -peak
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["u"], "up"),
        helper.make_node("Relu", ["u"], ["t"], "act"),
        helper.make_node("MatMul", ["t", "w2"], ["d"], "down"),
        helper.make_node("Add", ["d", "x"], ["y"], "residual"),
    ]
    first = (rng.standard_normal((WIDTH, WIDTH)) / 8).astype("f4")
    first[:, [5, 40]] /= 16
    constants = [cli_models.tensor("w1", first), cli_models.tensor("w2", weight)]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, PLACES, WIDTH]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "block", ports[:1], ports[1:], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


save("model.onnx", 40)
save("even.onnx", 0.1)
np.save("x.npy", rng.standard_normal((24, PLACES, WIDTH)).astype("f4"))
