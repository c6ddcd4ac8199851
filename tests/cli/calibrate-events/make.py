"""Makes a model for the progress events of a calibration."""

import cli_models

cli_models.net()
