"""Makes a model with an open dimension that has no name."""

import cli_models

cli_models.net(batch=None)
