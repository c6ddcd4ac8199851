"""Makes a model whose name begins with two dashes."""

import cli_models

cli_models.net("--json")
