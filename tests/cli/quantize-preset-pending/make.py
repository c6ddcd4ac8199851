"""Makes a model for the preset BF16_MIXED_BFP16."""

import cli_models

cli_models.net()
