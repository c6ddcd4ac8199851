"""Makes a model for all presets."""

import cli_models

cli_models.net()
