"""Makes a model for a calibration without an output file."""

import cli_models

cli_models.net()
