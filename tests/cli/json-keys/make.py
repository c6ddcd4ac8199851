"""Makes a model for the JSON output of all commands."""

import cli_models

cli_models.net()
