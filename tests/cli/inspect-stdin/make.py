"""Makes a model that `inspect` reads from standard input."""

import cli_models

cli_models.net()
