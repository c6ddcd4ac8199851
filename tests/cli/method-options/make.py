import cli_models

cli_models.net()
