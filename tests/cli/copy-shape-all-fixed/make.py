"""Makes a model of fixed shape for --shape."""

import cli_models

cli_models.net(batch=2)
