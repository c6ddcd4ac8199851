"""Makes a model for `sensitivity` without samples."""

import cli_models

cli_models.net()
