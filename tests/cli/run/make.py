"""Makes a model for a plain run."""

import cli_models

cli_models.net()
