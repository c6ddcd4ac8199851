"""Makes a model for an odd --block-size with MX6."""

import cli_models

cli_models.net()
