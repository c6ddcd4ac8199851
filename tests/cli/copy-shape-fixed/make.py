"""Makes a model for --shape on a dimension that is fixed."""

import cli_models

cli_models.net()
