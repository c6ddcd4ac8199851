"""Makes a small network with an open batch."""

import cli_models

cli_models.net()
