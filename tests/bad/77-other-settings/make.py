"""Makes a model for statistics of different settings, which cannot be merged."""

import cli_models

cli_models.net()
