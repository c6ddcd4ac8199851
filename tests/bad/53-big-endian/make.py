"""Makes a big-endian .npy file, which is converted."""

import numpy as np
from bad_samples import identity, npy, write

identity(("x", "float32", [1, 3]))
write("x.npy", npy(np.array([[1, 2.5, -3e20]], ">f4")))
