"""Makes a model for options from configuration files."""

import cli_models

cli_models.net()
