"""Makes a sample with a NaN."""

import numpy as np
from bad_samples import identity, npy, write

identity(("x", "float32", [1, 3]))
write("x.npy", npy(np.array([[1, np.nan, np.inf]], np.float32)))
