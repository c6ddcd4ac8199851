"""Makes a model for symmetric weights of an unsigned type."""

import cli_models

cli_models.net()
