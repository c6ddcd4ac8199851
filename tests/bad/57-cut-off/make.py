"""Makes an .npz archive that is cut off."""

import numpy as np
from bad_samples import identity, npy, npz, write

identity(("x", "float32", [1, 3]))
write("x.npz", npz([("x.npy", npy(np.zeros((1, 3), np.float32)))])[:-5])
