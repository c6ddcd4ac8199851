"""Makes a model for options that have no effect beside the others."""

import cli_models

cli_models.net()
