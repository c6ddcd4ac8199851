"""Makes a model for --between with a name unlike all others."""

import cli_models

cli_models.net()
