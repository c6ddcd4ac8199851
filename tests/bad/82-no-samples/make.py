"""Makes a model for `quantize` without samples."""

import cli_models

cli_models.net()
