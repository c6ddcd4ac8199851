"""A network whose weights are nearly all of its size, one of them with peaks that 4 bits lose, and an input of wide
range; and samples for it."""

import numpy as np
from onnx import helper

from cli_models import save, tensor, value

rng = np.random.default_rng(3)


def weight(name, *shape):
    return tensor(name, rng.normal(size=shape).astype(np.float32) / 8)


peaks = rng.normal(size=(32, 32, 3, 3)).astype(np.float32) / 8
peaks[:, 0, 0, 0] *= 20
nodes = [
    helper.make_node("Conv", ["image", "one.weight"], ["one"], "one", pads=[1, 1, 1, 1]),
    helper.make_node("Relu", ["one"], ["relu"], "relu"),
    helper.make_node("Conv", ["relu", "two.weight"], ["two"], "two"),
    helper.make_node("Relu", ["two"], ["again"], "again"),
    helper.make_node("Conv", ["again", "three.weight"], ["three"], "three"),
    helper.make_node("GlobalAveragePool", ["three"], ["scores"], "pool"),
]
weights = [weight("one.weight", 32, 3, 3, 3), tensor("two.weight", peaks), weight("three.weight", 32, 32, 3, 3)]
save(helper.make_graph(nodes, "net", [value("image", [1, 3, 8, 8])], [value("scores", [1, 32, 1, 1])], weights), "model.onnx")
samples = np.cumsum(np.cumsum(rng.normal(size=(32, 3, 8, 8)), axis=2), axis=3) / 8
np.save("x.npy", samples.astype(np.float32))
