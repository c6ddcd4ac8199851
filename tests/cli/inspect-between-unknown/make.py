"""Makes a model for --between with a misspelled name."""

import cli_models

cli_models.net()
