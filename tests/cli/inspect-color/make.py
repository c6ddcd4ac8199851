"""Makes a model for colored output."""

import cli_models

cli_models.net()
