"""Makes a model for a calibration with Gram matrices."""

import cli_models

cli_models.net()
