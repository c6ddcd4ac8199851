"""Makes a model whose statistics file exists already."""

import cli_models

cli_models.net()
