"""Makes a model for --shape with an axis that the input does not have."""

import cli_models

cli_models.net()
