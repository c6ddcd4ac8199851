"""Makes a model that `quantize` must not replace."""

import cli_models

cli_models.net()
