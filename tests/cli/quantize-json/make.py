"""Makes a model for the JSON report of `quantize`."""

import cli_models

cli_models.net()
