"""Makes a model for --rounding-damping out of range."""

import cli_models

cli_models.net()
