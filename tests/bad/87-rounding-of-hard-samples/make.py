"""A model, one with dead channels, and samples that say little, or what is no number."""

import numpy as np
from onnx import helper

import cli_models

rng = np.random.default_rng(5)
SHAPES = {"one.weight": (12, 3, 3, 3), "one.bias": (12,), "two.weight": (12, 1, 3, 3), "two.bias": (12,),
          "fc.weight": (12, 5), "fc.bias": (5,)}
NODES = [
    helper.make_node("Conv", ["image", "one.weight", "one.bias"], ["one"], "one", pads=[1, 1, 1, 1]),
    helper.make_node("Relu", ["one"], ["relu"], "relu"),
    helper.make_node("Conv", ["relu", "two.weight", "two.bias"], ["two"], "two", group=12),
    helper.make_node("Relu", ["two"], ["again"], "again"),
    helper.make_node("GlobalAveragePool", ["again"], ["pool"], "pool"),
    helper.make_node("Flatten", ["pool"], ["flat"], "flat"),
    helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["scores"], "fc"),
]


def save(path, weights):
    constants = [cli_models.tensor(name, values) for name, values in weights.items()]
    cli_models.save(helper.make_graph(NODES, "net", [cli_models.value("image", [1, 3, 8, 8])],
                                      [cli_models.value("scores", [1, 5])], constants), path)


weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}
save("model.onnx", weights)
# A channel of nothing, one that Relu always cuts, a group of zeros, an output that reads nothing.
weights["one.weight"][[3, 5, 6]] = 0
weights["one.bias"][[3, 5, 6]] = 0, -2, 3
weights["two.weight"][1] = 0
weights["fc.weight"][:, 2] = 0
save("dead.onnx", weights)

smooth = np.cumsum(np.cumsum(rng.normal(size=(16, 3, 8, 8)), axis=2), axis=3) + 4 * rng.normal(size=(16, 3, 1, 1))
smooth = (smooth / 8).astype(np.float32)


def changed(place, value):
    samples = smooth.copy()
    samples[place] = value
    return samples


for name, samples in {
    "all": smooth, "single": smooth[:1], "three": smooth[:3], "four": smooth[:4],
    "zeros": np.zeros_like(smooth[:8]), "constant": np.full_like(smooth[:8], 0.7),
    "zero-channel": changed(np.s_[:, 1], 0), "nan": changed((3, 0, 2, 2), np.nan), "inf": changed((3, 1, 7, 0), -np.inf),
    "nan-aside": changed((14, 2, 0, 2), np.nan),
    "beyond-sums": smooth * np.float32(1e25), "one-far": changed((3, 0, 2, 2), 3e38), "tiny": smooth * np.float32(1e-30),
}.items():
    np.save(f"{name}.npy", samples)
