"""Makes a model whose open dimension --shape fixes."""

import cli_models

cli_models.net()
