"""Makes a model that `copy` must not replace through a link to it."""

import cli_models

cli_models.net()
