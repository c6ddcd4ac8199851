"""Makes a model for `inspect --nodes`."""

import cli_models

cli_models.net()
