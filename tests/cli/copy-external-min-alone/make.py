"""Makes a model for --external-min without --external."""

import cli_models

cli_models.net()
