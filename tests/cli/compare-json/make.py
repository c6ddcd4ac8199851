"""Makes a model and samples for `compare --json`."""

import numpy as np

import cli_models

cli_models.net(batch=1)
np.save("x.npy", cli_models.numbers(6, 3, 8, 8))
