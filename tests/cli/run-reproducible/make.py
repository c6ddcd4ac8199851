"""Makes a model for random samples that have to be the same each time."""

import cli_models

cli_models.net()
