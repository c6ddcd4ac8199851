"""Makes a model for --data together with --random."""

import cli_models

cli_models.net()
