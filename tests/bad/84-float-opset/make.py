import onnx

import cli_models

model = cli_models.net()
model.opset_import[0].version = 12
onnx.save(model, "model.onnx")
