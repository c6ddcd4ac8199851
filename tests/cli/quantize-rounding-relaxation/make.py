"""Makes a model and samples for --rounding relaxation."""

import numpy as np

import cli_models

np.save("x.npy", cli_models.smooth_net())
