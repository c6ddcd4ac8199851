"""Makes a model with custom operators, run without their library."""

import cli_models

cli_models.custom()
