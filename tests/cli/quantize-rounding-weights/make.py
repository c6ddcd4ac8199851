"""Makes a model and samples for rounding reconstruction of weights alone."""

import numpy as np

import cli_models

np.save("x.npy", cli_models.smooth_net())
