"""Makes a model of an old opset for bf16."""

import onnx

import cli_models

model = cli_models.net()
model.opset_import[0].version = 12
onnx.save(model, "model.onnx")
