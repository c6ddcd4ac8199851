"""Makes a model that is quantized with Q/DQ pairs."""

import cli_models

cli_models.quantized()
