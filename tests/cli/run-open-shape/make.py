"""Makes a model with an open dimension for random samples."""

import cli_models

cli_models.net()
