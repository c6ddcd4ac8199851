"""Makes a model for a calibration without ONNX Runtime."""

import cli_models

cli_models.net()
