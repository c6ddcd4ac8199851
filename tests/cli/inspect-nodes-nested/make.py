"""Makes a model with nested graphs for `inspect --nodes`."""

import cli_models

cli_models.branches()
