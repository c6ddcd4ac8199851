"""Makes a model for --rounding-iterations out of range."""

import cli_models

cli_models.net()
