"""Makes a network one of whose hidden channels is far above the others, and one whose channels are alike."""

import cli_models
import numpy as np
import onnx
from onnx import TensorProto, helper

rng = np.random.default_rng(4)
WIDTH, PLACES = 32, 6


def matrix(name, factors):
    return cli_models.tensor(name, (rng.standard_normal((WIDTH, WIDTH)) * factors / 4).astype("f4"))


def save(path, factors, down=None):
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["u"], "up"),
        helper.make_node("Relu", ["u"], ["t"], "act"),
        helper.make_node("MatMul", ["t", "w2"], ["d"], "down"),
        helper.make_node("Add", ["d", "x"], ["y"], "residual"),
    ]
    constants = [matrix("w1", factors), matrix("w2", 1) if down is None else cli_models.tensor("w2", down)]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, PLACES, WIDTH]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "block", ports[:1], ports[1:], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


save("model.onnx", np.where(np.arange(WIDTH) == 5, 80, 1))
save("even.onnx", np.ones(WIDTH))
np.save("x.npy", rng.standard_normal((24, PLACES, WIDTH)).astype("f4"))

# A channel of little weight but for one output: smoothing gains, and splitting alone more.
down = (rng.standard_normal((WIDTH, WIDTH)) / 4).astype("f4")
down[5] /= 80
down[5, 7] = 80**-0.7
save("both.onnx", np.where(np.arange(WIDTH) == 5, 80, 1), down)
middle = rng.uniform(-1, 1, (1, PLACES, WIDTH))
np.save("both.npy", (middle + rng.uniform(-0.1, 0.1, (24, PLACES, WIDTH))).astype("f4"))
