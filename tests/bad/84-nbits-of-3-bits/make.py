"""Makes a model for MatMulNBits with 3 bits."""

import cli_models

cli_models.net()
