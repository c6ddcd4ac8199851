"""Makes a model with nested graphs."""

import cli_models

cli_models.branches()
