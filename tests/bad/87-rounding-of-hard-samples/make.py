"""A model, one with dead channels, and samples that say little, or what is no number."""

import numpy as np
import onnx
from onnx import numpy_helper

import cli_models

smooth = cli_models.smooth_net()
dead = onnx.load("model.onnx")
weights = {tensor.name: tensor for tensor in dead.graph.initializer}


def change(name, place, numbers):
    values = numpy_helper.to_array(weights[name]).copy()
    values[place] = numbers
    weights[name].CopyFrom(cli_models.tensor(name, values))


# A channel of nothing, one that Relu always cuts, a group of zeros, an output that reads nothing.
change("one.weight", [3, 5, 6], 0)
change("one.bias", [3, 5, 6], [0, -2, 3])
change("two.weight", 1, 0)
change("fc.weight", np.s_[:, 2], 0)
onnx.save(dead, "dead.onnx")


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
