"""Makes a model for a configuration file with a misspelled key."""

import cli_models

cli_models.net()
