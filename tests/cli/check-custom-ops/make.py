"""Makes a model with custom operators for `check --custom-ops`."""

import cli_models

cli_models.custom()
