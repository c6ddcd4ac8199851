"""Makes a model whose data file must not be replaced."""

import cli_models

cli_models.external()
