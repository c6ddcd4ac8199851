"""Makes a model that is calibrated in shards."""

import cli_models

cli_models.net()
