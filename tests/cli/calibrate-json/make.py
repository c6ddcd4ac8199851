"""Makes a model for the JSON report of a calibration."""

import cli_models

cli_models.net()
