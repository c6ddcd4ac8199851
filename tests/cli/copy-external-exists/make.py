"""Makes a model for `copy` with a data file that exists."""

import cli_models

cli_models.big_weight()
