"""Makes a model, samples, and costs with which a layer in BFP16 is cheap."""

import numpy as np

import cli_models

np.save("x.npy", cli_models.smooth_net())
with open("costs.yaml", "w", encoding="ascii") as file:
    file.write("macs:\n  - {activation: bfp16, weight: bfp16, cost: 1.1, wide: true}\n")
