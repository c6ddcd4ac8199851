"""Makes a model for `quantize` with both --stats and --data."""

import cli_models

cli_models.net()
