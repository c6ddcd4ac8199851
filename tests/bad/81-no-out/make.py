"""Makes a model for `quantize` without --out."""

import cli_models

cli_models.net()
