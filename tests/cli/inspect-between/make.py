"""Makes a model for --between."""

import cli_models

cli_models.net()
