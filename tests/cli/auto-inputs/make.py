"""Makes a model whose sides are open, and pictures, one of them bad, for the options of `auto`."""

import os

import cli_models
import numpy as np
from PIL import Image

cli_models.net(sides=("H", "W"))
os.mkdir("pictures")
for number in range(6):
    pixels = (np.arange(12 * 10 * 3).reshape(12, 10, 3) * (7 + number)) % 256
    Image.fromarray(pixels.astype(np.uint8)).save(f"pictures/{number}.png")
open("pictures/6.png", "w").close()
