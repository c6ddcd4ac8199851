"""Makes a model for `sensitivity` that is quantized already."""

import cli_models

cli_models.net()
