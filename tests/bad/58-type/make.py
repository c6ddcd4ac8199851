"""Makes an int64 sample for a float input."""

import numpy as np
from bad_samples import identity, npy, write

identity(("x", "float32", [1, 3]))
write("x.npy", npy(np.zeros((1, 3), np.int64)))
