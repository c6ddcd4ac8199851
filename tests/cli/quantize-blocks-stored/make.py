"""Makes models for stored blocks, one of them with infinite weights."""

import cli_models
import numpy as np
import onnx
from onnx import numpy_helper

cli_models.net()
model = onnx.load("model.onnx")
model.graph.initializer[0].CopyFrom(numpy_helper.from_array(
    np.full_like(numpy_helper.to_array(model.graph.initializer[0]), np.inf), model.graph.initializer[0].name))
onnx.save(model, "infinite.onnx")
