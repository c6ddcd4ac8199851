"""Makes pictures, one of them bad, and two models for the options of `compare`."""

import os

import numpy as np
from PIL import Image

import cli_models
import evaluate_made

cli_models.net(sides=("H", "W"))
evaluate_made.models()
labels = [(7 + k + i) % 8 for i in range(4) for k in range(2)]
open("labels.txt", "w").write("\n".join(map(str, labels)) + "\n")
os.rename("model.onnx", "rows.onnx")
cli_models.net(sides=("H", "W"))
os.makedirs("pictures")
for i in range(2):
    ramp = np.add.outer(np.arange(20), np.arange(30))[..., None] * np.array([3, 2, 1]) + i
    Image.fromarray(ramp.astype(np.uint8)).save(f"pictures/p{i}.png")
open("pictures/bad.png", "w").close()
