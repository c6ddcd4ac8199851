"""Makes a model that the command gives in place of statistics."""

import cli_models

cli_models.net()
