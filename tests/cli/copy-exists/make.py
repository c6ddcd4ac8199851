"""Makes a model for `copy` to a file that exists."""

import cli_models

cli_models.net()
