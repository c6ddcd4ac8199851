"""Makes a model for --seed together with --data."""

import cli_models

cli_models.net()
