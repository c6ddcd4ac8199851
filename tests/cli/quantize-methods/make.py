"""Makes a model for all calibration methods."""

import cli_models

cli_models.net()
