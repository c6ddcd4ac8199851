"""Makes a model for --refine with a misspelled name."""

import cli_models

cli_models.net()
