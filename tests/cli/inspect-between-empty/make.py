"""Makes a model for --between with an empty name."""

import cli_models

cli_models.net()
