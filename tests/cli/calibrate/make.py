"""Makes a model for a plain calibration."""

import cli_models

cli_models.net()
