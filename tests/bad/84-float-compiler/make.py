"""Makes a model for --float-form compiler with fp16."""

import cli_models

cli_models.net()
