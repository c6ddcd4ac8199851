"""Makes a model for --rounding-starts with --rounding gptq."""

import cli_models

cli_models.net()
