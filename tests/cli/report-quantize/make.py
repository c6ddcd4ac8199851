"""Makes a model and samples for reports of `quantize`."""

import numpy as np

import cli_models

samples = cli_models.smooth_net()
np.save("x.npy", (samples - samples.min()) / (samples.max() - samples.min()))
