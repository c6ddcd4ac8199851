"""Makes a model for plans of several number formats."""

import cli_models

cli_models.net()
