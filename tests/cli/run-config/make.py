"""Makes a model for `run` with a configuration file."""

import cli_models

cli_models.net()
