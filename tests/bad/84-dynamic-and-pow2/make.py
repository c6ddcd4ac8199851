"""Makes a model for dynamic quantization with power-of-two scales."""

import cli_models

cli_models.net()
