"""Makes a model for a calibration method that needs votes, with statistics that have none."""

import cli_models

cli_models.net()
