"""Makes samples, one of them loud, for rounding reconstruction of other formats."""

import numpy as np

import cli_models

x = cli_models.smooth_net()
np.save("x.npy", x)
x[-1] *= 30
np.save("one-loud.npy", x)
