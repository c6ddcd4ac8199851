"""Makes a model for activations of 3 bits."""

import cli_models

cli_models.net()
