"""Makes a model for `copy` with --external and --inline."""

import cli_models

cli_models.net()
