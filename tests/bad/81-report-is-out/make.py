"""Makes a model for `quantize` with --report equal to --out."""

import cli_models

cli_models.net()
