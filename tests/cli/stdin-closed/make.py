"""Makes a model that is read while standard input is closed."""

import cli_models

cli_models.net()
