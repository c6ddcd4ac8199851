"""Makes a model for --wide-below."""

import cli_models

cli_models.net()
