"""Makes a model for `stats --model`."""

import cli_models

cli_models.net()
