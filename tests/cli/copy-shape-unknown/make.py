"""Makes a model for --shape with an unknown name."""

import cli_models

cli_models.net()
