"""Makes a model for --rename with an unknown name."""

import cli_models

cli_models.net()
