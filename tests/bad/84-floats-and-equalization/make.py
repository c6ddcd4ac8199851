"""Makes a model for cross-layer equalization of floats without samples."""

import cli_models

cli_models.net()
