"""Makes a model for stored blocks with an old opset."""

import cli_models

cli_models.net()
