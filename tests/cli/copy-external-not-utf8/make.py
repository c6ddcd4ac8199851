import cli_models

cli_models.big_weight()
