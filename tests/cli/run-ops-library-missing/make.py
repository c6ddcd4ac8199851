"""Makes a model whose library of custom operators is missing."""

import cli_models

cli_models.custom()
