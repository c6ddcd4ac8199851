"""Makes a model whose data file must not be the output's."""

import cli_models

cli_models.external()
