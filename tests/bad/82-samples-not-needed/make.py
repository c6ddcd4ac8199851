"""Makes a model for samples with --approach dynamic, which needs none."""

import cli_models

cli_models.net()
