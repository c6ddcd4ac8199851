"""Makes a bad sample that leaves a checkpoint of other settings."""

import os

import cli_models
import numpy as np

cli_models.net()
os.mkdir("data")
for name in "abde":
    np.save(f"data/{name}.npy", cli_models.numbers(1, 3, 8, 8))
with open("data/c.npy", "w") as file:
    file.write("no array")
