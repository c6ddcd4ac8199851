"""Makes a model for a calibration with a memory limit."""

import cli_models

cli_models.net()
