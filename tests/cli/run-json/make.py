"""Makes a model for `run --json`."""

import cli_models

cli_models.net()
