"""Makes a model for a plain copy."""

import cli_models

cli_models.net()
