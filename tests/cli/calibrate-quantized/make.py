"""Makes a quantized model, which calibration accepts."""

import cli_models

cli_models.quantized()
