"""Makes a model for --extra FastFinetune with a value that is not available."""

import cli_models

cli_models.net()
