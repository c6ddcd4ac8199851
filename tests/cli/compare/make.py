"""Makes a model and samples for `compare`."""

import numpy as np

import cli_models

np.save("x.npy", cli_models.smooth_net())
