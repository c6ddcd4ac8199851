"""Makes a model for 3-bit weights with --keep-float-weights."""

import cli_models

cli_models.net()
