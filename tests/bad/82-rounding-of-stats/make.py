"""Makes a model for rounding reconstruction from statistics alone."""

import cli_models

cli_models.net()
