"""Makes a model for a file with an extra option that is not available yet."""

import cli_models

cli_models.net()
