"""Makes a model for --pass with a misspelled name."""

import cli_models

cli_models.net()
