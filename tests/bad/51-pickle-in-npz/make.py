"""Makes an .npz archive with an array of Python objects."""

import numpy as np
from bad_samples import identity, npy, npz, write

identity(("x", "float32", [1, 3]))
write("x.npz", npz([("x.npy", npy(np.array([[None, 1, 2]], object)))]))
