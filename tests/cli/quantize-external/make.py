"""Makes a model whose quantized weights go to a data file."""

import cli_models

cli_models.net()
