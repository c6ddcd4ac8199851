"""Makes a model for a data file outside the output's folder."""

import cli_models

cli_models.big_weight()
