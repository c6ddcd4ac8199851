"""Makes a model for --extra with a misspelled name."""

import cli_models

cli_models.net()
