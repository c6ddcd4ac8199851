"""Makes a model for float formats."""

import cli_models

cli_models.net()
