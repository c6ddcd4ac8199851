"""Makes a model for a plain conversion."""

import cli_models

cli_models.net()
