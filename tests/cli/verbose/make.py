"""Makes a model for --verbose."""

import cli_models

cli_models.net()
