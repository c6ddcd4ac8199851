"""Makes a model and samples for the sensitivity of float formats."""

import cli_models
import numpy as np

np.save("x.npy", cli_models.smooth_net())
