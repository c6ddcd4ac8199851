"""Makes samples of different ranges for methods that count votes."""

import numpy as np

import cli_models

cli_models.net(batch=1)
reaches = np.array([1, 8, 1, 1], "f4")
np.save("x.npy", cli_models.numbers(4, 3, 8, 8) * reaches[:, None, None, None])
