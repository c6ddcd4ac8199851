"""Makes a model for block formats."""

import cli_models

cli_models.net()
