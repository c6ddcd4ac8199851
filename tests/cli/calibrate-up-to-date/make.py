"""Makes a model whose statistics are up to date."""

import cli_models

cli_models.net()
