"""Makes a model for files of conversions that have errors."""

import cli_models

cli_models.net()
