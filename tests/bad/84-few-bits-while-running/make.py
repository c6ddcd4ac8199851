"""Makes a model for 2-bit weights with dynamic quantization."""

import cli_models

cli_models.net()
