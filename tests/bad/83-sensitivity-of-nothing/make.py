"""Makes a model for `sensitivity` without a node of the chosen operators."""

import cli_models

cli_models.net()
