"""Makes a model for a plain plan."""

import cli_models

cli_models.net()
