"""Makes a model for --stats with --approach weights, which needs none."""

import cli_models

cli_models.net()
