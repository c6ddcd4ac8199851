"""Makes a model for --rounding-free with --rounding relaxation."""

import cli_models

cli_models.net()
