"""Makes a model for the sensitivity of other forms of quantization."""

import cli_models

cli_models.net()
