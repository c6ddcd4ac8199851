"""Makes a model with custom operators, which `copy` keeps."""

import cli_models

cli_models.custom()
