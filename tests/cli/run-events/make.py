"""Makes a model for the progress events of `run`."""

import cli_models

cli_models.net()
