"""Makes an .npy file of records."""

import numpy as np
from bad_samples import identity, npy, write

identity(("x", "float32", [1, 3]))
write("x.npy", npy(np.zeros((1, 3), [("red", "<f4"), ("green", "<f4")])))
