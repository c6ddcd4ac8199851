"""Makes a model for `run` without samples."""

import cli_models

cli_models.net()
