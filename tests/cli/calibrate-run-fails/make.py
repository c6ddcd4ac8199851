"""Makes a sample on which the model fails to run."""

import os

import cli_models
import numpy as np

cli_models.embedding()
os.mkdir("data")
np.save("data/good.npy", np.int64([[0, 1]]))
np.save("data/wrong.npy", np.int64([[0, 99]]))
