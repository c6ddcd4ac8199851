"""Makes a model for `quantize` with --report in a folder that does not exist."""

import cli_models

cli_models.net()
