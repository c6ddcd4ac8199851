"""Makes a model for statistics in a folder that does not exist."""

import cli_models

cli_models.net()
