"""Makes a model for a scale of a tensor that becomes bf16."""

import cli_models

cli_models.net()
