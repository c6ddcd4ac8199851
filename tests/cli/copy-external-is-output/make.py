"""Makes a model for `copy` with the output as data file."""

import cli_models

cli_models.net()
