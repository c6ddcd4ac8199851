"""Makes a model for an unknown execution provider."""

import cli_models

cli_models.net()
