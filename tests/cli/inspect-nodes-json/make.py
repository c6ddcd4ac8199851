"""Makes a model for `inspect --nodes --json`."""

import cli_models

cli_models.net()
