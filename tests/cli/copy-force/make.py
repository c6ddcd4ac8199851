"""Makes a model for `copy --force`."""

import cli_models

cli_models.net()
