"""Makes a model for --activation-method-auto."""

import cli_models

cli_models.net()
