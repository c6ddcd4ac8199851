"""Makes a network whose large inputs hide the small ones in 8 bits, so that 16 bits decide what equalization is worth."""

import cli_models
import numpy as np
import onnx
from onnx import TensorProto, helper

rng = np.random.default_rng(7)
CHANNELS, SIDE = 16, 6


def save(path, small):
    first = (rng.standard_normal((CHANNELS, CHANNELS, 1, 1)) / 4).astype("f4")
    first[:12, :4] = 0  # small inputs alone
    first[12:, 4:] = 0
    first[12:] *= small  # large inputs, so that these channels are as large as the others
    second = (rng.standard_normal((CHANNELS, CHANNELS, 1, 1)) / 4).astype("f4")
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["u"], "one"),
        helper.make_node("Relu", ["u"], ["t"], "act"),
        helper.make_node("Conv", ["t", "w2"], ["y"], "two"),
    ]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, CHANNELS, SIDE, SIDE]) for name in ("x", "y")]
    constants = [cli_models.tensor("w1", first), cli_models.tensor("w2", second)]
    graph = helper.make_graph(nodes, "pair", ports[:1], ports[1:], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def inputs(path, small):
    x = rng.standard_normal((24, CHANNELS, SIDE, SIDE)).astype("f4")
    x[:, :4] /= small
    np.save(path, x)


SMALL = 1 / 64
save("model.onnx", SMALL)
inputs("x.npy", SMALL)
