"""Makes a model and samples for Quark's fine-tuning options."""

import numpy as np

import cli_models

np.save("x.npy", cli_models.smooth_net())
