"""Makes a small network."""

import cli_models

cli_models.net()
