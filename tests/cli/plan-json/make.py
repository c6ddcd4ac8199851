"""Makes a model for `plan --json`."""

import cli_models

cli_models.net()
