"""Makes a model for configuration files that name a library, or what is written."""

import cli_models

cli_models.net()
