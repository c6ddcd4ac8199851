"""Makes a model whose activations overflow float16 on pictures."""

import os

import numpy as np
import onnx
from onnx import numpy_helper
from PIL import Image

import cli_models

cli_models.net(sides=("H", "W"))
model = onnx.load("model.onnx")
for tensor in model.graph.initializer:
    if tensor.name == "conv.weight":  # of pictures from 0 to 255, a channel leaves float16
        tensor.CopyFrom(numpy_helper.from_array(np.abs(numpy_helper.to_array(tensor)) * 300 + 20, tensor.name))
onnx.save(model, "model.onnx")
os.makedirs("pictures")
for i in range(2):
    ramp = np.add.outer(np.arange(20), np.arange(30))[..., None] * np.array([3, 2, 1]) + i
    Image.fromarray(ramp.astype(np.uint8)).save(f"pictures/p{i}.png")
open("pictures/bad.png", "w").close()
