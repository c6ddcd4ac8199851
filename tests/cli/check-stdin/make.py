"""Makes a model that `check` reads from standard input."""

import cli_models

cli_models.net()
