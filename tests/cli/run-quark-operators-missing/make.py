import cli_models

cli_models.quark_operators()
