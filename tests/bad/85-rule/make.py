"""Makes a model for --node with a misspelled key."""

import cli_models

cli_models.net()
