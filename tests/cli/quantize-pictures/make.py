"""Makes a model and pictures to calibrate on."""

import os

import numpy as np
from PIL import Image

import cli_models

cli_models.net(sides=("H", "W"))
os.makedirs("pictures")
for i in range(3):
    ramp = np.add.outer(np.arange(20), np.arange(30))[..., None] * np.array([3, 2, 1]) + i
    Image.fromarray(ramp.astype(np.uint8)).save(f"pictures/p{i}.png")
