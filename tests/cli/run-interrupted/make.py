"""Makes a model for a run that is interrupted."""

import cli_models

cli_models.net()
