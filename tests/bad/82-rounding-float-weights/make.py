"""Makes a model for --rounding with --keep-float-weights."""

import cli_models

cli_models.net()
