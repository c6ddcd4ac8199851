"""Makes a model for --block-form onnx with an old opset."""

import cli_models

cli_models.net()
