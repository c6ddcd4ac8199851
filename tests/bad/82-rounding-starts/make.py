"""Makes a model for --rounding-starts out of range."""

import cli_models

cli_models.net()
