"""Makes a model for fp8 with an old opset."""

import cli_models

cli_models.net()
