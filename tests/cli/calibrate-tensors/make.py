"""Makes a model for --tensors, which chooses the recorded tensors."""

import cli_models

cli_models.net()
