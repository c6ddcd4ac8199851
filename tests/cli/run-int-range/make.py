"""Makes a model of integers for --int-range."""

import cli_models

cli_models.embedding()
