"""Makes a model for more shards than samples."""

import cli_models

cli_models.net()
