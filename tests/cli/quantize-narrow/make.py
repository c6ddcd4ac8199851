"""Makes a model and samples for weights of 2 and 3 bits."""

import numpy as np

import cli_models

np.save("x.npy", cli_models.smooth_net())
