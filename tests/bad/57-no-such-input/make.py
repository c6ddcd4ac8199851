"""Makes an .npz archive that lacks an input of the model."""

import numpy as np
from bad_samples import identity, npy, npz, write

identity(("x", "float32", [1, 3]), ("y", "float32", [1, 3]))
write("x.npz", npz([("x.npy", npy(np.zeros((1, 3), np.float32))), ("z.npy", npy(np.zeros((1, 3), np.float32)))]))
