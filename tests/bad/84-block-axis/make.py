"""Makes a model for --block-axis that its tensors do not have."""

import cli_models

cli_models.net()
