"""Makes a model with external data that is read from standard input."""

import cli_models

cli_models.external()
