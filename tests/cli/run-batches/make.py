"""Makes samples of several sizes that are joined into batches."""

import os

import numpy as np
from PIL import Image

import cli_models

cli_models.net(batch=2)
cli_models.net("open.onnx")
os.makedirs("pictures")
os.makedirs("arrays")
rows = cli_models.numbers(8, 3, 8, 8) + np.arange(8, dtype=np.float32).reshape(8, 1, 1, 1)
np.save("rows.npy", rows)
for name, part in ("a", rows[:1]), ("b", rows[1:7]), ("c", rows[7]):
    np.save(f"arrays/{name}.npy", part)
for i in range(5):
    ramp = np.add.outer(np.arange(20), np.arange(30))[..., None] * np.array([3, 2, 1]) + 9 * i
    Image.fromarray(ramp.astype(np.uint8)).save(f"pictures/p{i}.png")
