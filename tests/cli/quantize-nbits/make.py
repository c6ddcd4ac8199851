"""Makes a model for MatMulNBits."""

import cli_models

cli_models.net()
