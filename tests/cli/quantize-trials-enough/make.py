"""Two convolutions whose channels differ, so that equalization has candidates; x.npy: samples."""

import cli_models
import numpy as np
from onnx import helper

rng = np.random.default_rng(11)
steps = np.exp2(rng.permutation(8) - 4.0)[:, None, None, None]


def weight(name, values):
    return cli_models.tensor(name, values.astype("f4"))


first, second = rng.standard_normal((8, 3, 3, 3)), rng.standard_normal((4, 8, 3, 3))
graph = helper.make_graph(
    [
        helper.make_node("Conv", ["x", "w1"], ["a"], "one"),
        helper.make_node("Relu", ["a"], ["b"], "act"),
        helper.make_node("Conv", ["b", "w2"], ["y"], "two"),
    ],
    "trials",
    [helper.make_tensor_value_info("x", 1, [1, 3, 8, 8])],
    [helper.make_tensor_value_info("y", 1, [1, 4, 4, 4])],
    [weight("w1", first * steps), weight("w2", second / steps.reshape(1, 8, 1, 1))],
)
cli_models.save(graph, "model.onnx")
np.save("x.npy", rng.standard_normal((24, 3, 8, 8)).astype("f4"))
