"""Makes a model that the statistics must not replace."""

import cli_models

cli_models.net()
