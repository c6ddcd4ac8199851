"""Makes a model for `inspect --json`."""

import cli_models

cli_models.net()
