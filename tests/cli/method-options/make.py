"""A small model and samples for the options of calibration methods."""

import cli_models

cli_models.net()
