"""Makes a model for `quantize` to a file that exists."""

import cli_models

cli_models.net()
