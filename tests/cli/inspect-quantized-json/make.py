"""Makes a quantized model for `inspect --json`."""

import cli_models

cli_models.quantized()
