"""Makes a model for a calibration per channel."""

import cli_models

cli_models.net()
