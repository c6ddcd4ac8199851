"""Makes a model for --rounding-iterations without --rounding relaxation."""

import cli_models

cli_models.net()
