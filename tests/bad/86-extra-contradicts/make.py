"""Makes a model for --extra that contradicts another option."""

import cli_models

cli_models.net()
