"""Makes a detector whose output is a map, and pictures with bright rectangles."""

import numpy as np
import onnx
from onnx import parser

model = parser.parse_model("""
<ir_version: 8, opset_import: ["": 17]>
regions (float[1,3,64,96] image) => (float[1,1,32,48] map)
<float[1,3,3,3] weight, float[1] bias>
{ sum = Conv <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (image, weight, bias)
  map = Sigmoid(sum) }""")
model.graph.initializer.extend([
    onnx.numpy_helper.from_array(np.full((1, 3, 3, 3), 0.9, np.float32), "weight"),
    onnx.numpy_helper.from_array(np.float32([-10]), "bias"),
])
del model.graph.value_info[:]
onnx.save(model, "model.onnx")

rng = np.random.default_rng(0)
samples = rng.uniform(0, 0.1, (6, 3, 64, 96)).astype(np.float32)
samples[:, :, 8:24, 10:50] += 0.85
samples[:, :, 40:56, 30:90] += 0.85
np.save("x.npy", samples)
