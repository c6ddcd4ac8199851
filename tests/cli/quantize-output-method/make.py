"""Makes a model for --activation-method output."""

import cli_models

cli_models.net()
