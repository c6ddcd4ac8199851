"""Makes a model for quantization from configuration files."""

import cli_models

cli_models.net()
