"""Makes a model for `run` without ONNX Runtime."""

import cli_models

cli_models.net()
