"""Makes a model for Quark's extra options."""

import cli_models

cli_models.net()
