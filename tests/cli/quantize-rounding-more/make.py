import numpy as np
from onnx import helper

import cli_models

rng = np.random.default_rng(5)


def normal(name, *shape):
    return cli_models.tensor(name, rng.normal(size=shape).astype(np.float32))


nodes = [
    helper.make_node("Conv", ["image", "one.weight", "one.bias"], ["one"], "one", pads=[1, 1, 1, 1]),
    helper.make_node("Relu", ["one"], ["relu"], "relu"),
    helper.make_node("Conv", ["relu", "two.weight", "two.bias"], ["two"], "two", group=12),
    helper.make_node("Relu", ["two"], ["again"], "again"),
    helper.make_node("GlobalAveragePool", ["again"], ["pool"], "pool"),
    helper.make_node("Flatten", ["pool"], ["flat"], "flat"),
    helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["scores"], "fc"),
]
weights = [normal("one.weight", 12, 3, 3, 3), normal("one.bias", 12), normal("two.weight", 12, 1, 3, 3),
           normal("two.bias", 12), normal("fc.weight", 12, 5), normal("fc.bias", 5)]
cli_models.save(helper.make_graph(nodes, "net", [cli_models.value("image", [1, 3, 8, 8])],
                                  [cli_models.value("scores", [1, 5])], weights))
# Neighbours are alike, as in pictures.
smooth = np.cumsum(np.cumsum(rng.normal(size=(16, 3, 8, 8)), axis=2), axis=3) + 4 * rng.normal(size=(16, 3, 1, 1))
np.save("x.npy", (smooth / 8).astype(np.float32))
