"""Makes a model for --exclude with a broken regular expression."""

import cli_models

cli_models.net()
