"""Makes a model for the interval of checkpoints."""

import cli_models

cli_models.net()
