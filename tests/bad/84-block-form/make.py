"""Makes a model for --block-form without stored blocks."""

import cli_models

cli_models.net()
