"""Makes a model for a calibration without samples."""

import cli_models

cli_models.net()
