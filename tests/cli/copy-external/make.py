"""Makes a model with a big weight, which moves to a data file."""

import cli_models

cli_models.big_weight()
