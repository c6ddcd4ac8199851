"""Makes a model for --percentile without a percentile method."""

import cli_models

cli_models.net()
