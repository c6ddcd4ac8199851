"""Makes a model for --passes-from."""

import cli_models

cli_models.net()
