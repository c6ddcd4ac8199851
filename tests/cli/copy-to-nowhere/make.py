"""Makes a model for `copy` to a folder that does not exist."""

import cli_models

cli_models.net()
