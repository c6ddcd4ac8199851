import cli_models
import numpy as np

np.save("x.npy", cli_models.smooth_net())
