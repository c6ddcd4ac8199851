"""Makes a model to which the statistics do not belong."""

from stats_samples import copy

import cli_models

copy(whole="part-0-30")
cli_models.net()
