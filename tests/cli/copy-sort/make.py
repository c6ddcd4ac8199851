"""Makes a model with unsorted nodes for `copy --sort`."""

import cli_models

cli_models.unsorted()
