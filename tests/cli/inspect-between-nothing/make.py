"""Makes a model for --between without a path between the nodes."""

import cli_models

cli_models.net()
