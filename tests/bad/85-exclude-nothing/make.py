"""Makes a model for --exclude with a name that no node has."""

import cli_models

cli_models.net()
