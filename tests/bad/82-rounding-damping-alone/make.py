"""Makes a model for --rounding-damping without rounding reconstruction."""

import cli_models

cli_models.net()
