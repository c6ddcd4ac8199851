"""Makes a model for XINT8 hardware with scales per channel."""

import cli_models

cli_models.net()
