"""Makes a model for samples with a float format, which needs none."""

import cli_models

cli_models.net()
