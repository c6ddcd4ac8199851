"""Makes samples of different sizes."""

import os

import cli_models
import numpy as np

cli_models.net(sides=("H", "W"))
os.mkdir("data")
for number, side in enumerate((3, 8, 17)):
    np.save(f"data/{number}.npy", cli_models.numbers(1, 3, side, side + 1))
