"""Makes an .npy file for a model with two inputs."""

import numpy as np
from bad_samples import identity, npy, write

identity(("x", "float32", [1, 3]), ("y", "float32", [1, 3]))
write("x.npy", npy(np.zeros((1, 3), np.float32)))
