"""Makes an .npy file with more bytes than its shape needs."""

import numpy as np
from bad_samples import identity, npy, write

identity(("x", "float32", [1, 3]))
write("x.npy", npy(np.zeros((1, 3), np.float32)) + b"x")
