"""Makes a model for --extra with an option that is not available yet."""

import cli_models

cli_models.net()
