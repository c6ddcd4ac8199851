"""Makes a model and samples for integer operators."""

import numpy as np

import cli_models

cli_models.net()
np.save("x.npy", cli_models.numbers(6, 3, 8, 8))
