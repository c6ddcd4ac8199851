"""Makes a model that `run` reads from standard input."""

import cli_models

cli_models.net()
