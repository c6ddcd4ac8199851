"""Makes a model for a float format that Quark's operators do not have."""

import cli_models

cli_models.net()
