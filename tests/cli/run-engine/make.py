"""Makes a model for the options of ONNX Runtime."""

import cli_models

cli_models.net()
