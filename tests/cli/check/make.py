"""Makes a model without errors."""

import cli_models

cli_models.net()
