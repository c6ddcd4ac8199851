"""Makes samples of the wrong shape and the wrong type."""

import os

import cli_models
import numpy as np

cli_models.net()
for folder in ("shape", "type"):
    os.mkdir(folder)
    np.save(f"{folder}/a.npy", cli_models.numbers(1, 3, 8, 8))
np.save("shape/b.npy", cli_models.numbers(1, 3, 8, 9))
np.save("type/b.npy", np.int32(cli_models.numbers(1, 3, 8, 8)))
