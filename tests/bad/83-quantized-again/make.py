"""Makes a model that the command quantizes twice."""

import cli_models

cli_models.net()
