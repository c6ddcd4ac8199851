"""Makes a model and samples for a plain `sensitivity`."""

import numpy as np

import cli_models

samples = cli_models.smooth_net()
np.save("x.npy", samples)
np.save("one.npy", samples[:1])
