"""Makes a model for `sensitivity` of MatMulNBits."""

import cli_models

cli_models.net()
