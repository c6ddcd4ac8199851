"""Makes a model with Quark's operators, whose library is named."""

import cli_models

cli_models.quark_operators()
