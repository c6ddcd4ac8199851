"""Makes a model that passes change a lot, and samples: padding and normalization to fold, a normalization that
becomes a layer of its own, a strided and dilated convolution in groups, a transposed one, a product and a sum."""

import cli_models
import numpy as np
from onnx import helper

rng = np.random.default_rng(9)


def normal(name, *shape, scale=1.0, shift=0.0):
    return cli_models.tensor(name, (scale * rng.normal(size=shape) + shift).astype(np.float32))


def norm(name, channels):
    return [normal(f"{name}.scale", channels, scale=0.1, shift=1), normal(f"{name}.shift", channels),
            normal(f"{name}.mean", channels), cli_models.tensor(f"{name}.var", np.full(channels, 2, np.float32))]


def norm_node(name, source, out):
    return helper.make_node("BatchNormalization", [source, *(f"{name}.{part}" for part in ("scale", "shift", "mean", "var"))],
                            [out], name)


nodes = [
    helper.make_node("Pad", ["image", "pads"], ["padded"], "pad"),
    helper.make_node("Conv", ["padded", "one.weight", "one.bias"], ["conv"], "one"),
    norm_node("first", "conv", "normed"),
    helper.make_node("Relu", ["normed"], ["relu"], "relu"),
    norm_node("second", "relu", "again"),
    helper.make_node("Conv", ["again", "two.weight", "two.bias"], ["two"], "two", group=3, strides=[2, 1],
                     dilations=[1, 2], pads=[0, 2, 1, 1]),
    helper.make_node("Identity", ["two"], ["same"], "same"),
    helper.make_node("ConvTranspose", ["same", "up.weight"], ["up"], "up", strides=[2, 2], pads=[1, 1, 0, 0]),
    helper.make_node("GlobalAveragePool", ["up"], ["pool"], "pool"),
    helper.make_node("Flatten", ["pool"], ["flat"], "flat"),
    helper.make_node("MatMul", ["flat", "fc.weight"], ["product"], "fc"),
    helper.make_node("Add", ["product", "fc.bias"], ["scores"], "sum"),
]
weights = [cli_models.tensor("pads", np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64)),
           normal("one.weight", 12, 3, 3, 3), normal("one.bias", 12), *norm("first", 12), *norm("second", 12),
           normal("two.weight", 18, 4, 3, 3), normal("two.bias", 18), normal("up.weight", 18, 8, 3, 3, scale=0.3),
           normal("fc.weight", 8, 5), normal("fc.bias", 5)]
graph = helper.make_graph(nodes, "net", [cli_models.value("image", [1, 3, 8, 8])], [cli_models.value("scores", [1, 5])],
                          weights)
cli_models.save(graph)
smooth = np.cumsum(np.cumsum(rng.normal(size=(16, 3, 8, 8)), axis=2), axis=3) + 4 * rng.normal(size=(16, 3, 1, 1))
np.save("x.npy", (smooth / 8).astype(np.float32))
