"""Makes a model for --rename."""

import cli_models

cli_models.net()
