"""Makes a model for --tensor with two scales of one tensor."""

import cli_models

cli_models.net()
