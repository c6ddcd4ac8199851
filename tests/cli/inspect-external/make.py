"""Makes a model with external data."""

import cli_models

cli_models.external()
