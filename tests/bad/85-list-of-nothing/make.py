"""Makes a model for --exclude-from with a file that has no name."""

import cli_models

cli_models.net()
