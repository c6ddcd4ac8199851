"""Makes a model for a plain `inspect`."""

import cli_models

cli_models.net()
