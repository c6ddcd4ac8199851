"""Makes an .npz archive with two members of the same name."""

import numpy as np
from bad_samples import identity, npy, npz, write

identity(("x", "float32", [1, 3]))
write("x.npz", npz([("x.npy", npy(np.zeros((1, 3), np.float32))), ("x.npy", npy(np.zeros((1, 3), np.float32)))]))
