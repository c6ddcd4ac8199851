"""Makes a model for --rename to a name that is taken."""

import cli_models

cli_models.net()
