"""Makes a model for --limit together with --random."""

import cli_models

cli_models.net()
