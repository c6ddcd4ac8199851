"""Makes a model for rules on operators, nodes and tensors."""

import cli_models

cli_models.net()
