"""Makes a model for `copy` with the model as data file."""

import cli_models

cli_models.net()
