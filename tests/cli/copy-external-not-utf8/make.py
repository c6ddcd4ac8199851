"""Makes a model for a name of a data file that is not UTF-8."""

import cli_models

cli_models.big_weight()
