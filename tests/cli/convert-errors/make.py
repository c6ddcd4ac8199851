"""Makes a model for `convert` with wrong options."""

import cli_models

cli_models.net()
