"""Makes a model for `copy` to standard output."""

import cli_models

cli_models.net()
