"""Makes a model for --activation-headroom."""

import cli_models

cli_models.net()
