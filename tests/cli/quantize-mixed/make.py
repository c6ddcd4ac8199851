"""Makes a model and samples for presets that mix types."""

import numpy as np

import cli_models

np.save("x.npy", cli_models.smooth_net())
