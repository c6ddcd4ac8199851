"""Makes an .npy file of texts."""

import numpy as np
from bad_samples import identity, npy, write

identity(("x", "float32", [1, 3]))
write("x.npy", npy(np.array([["a", "b", "c"]])))
