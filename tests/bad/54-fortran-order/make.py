"""Makes an .npy file in Fortran order, which is converted."""

import numpy as np
from bad_samples import identity, npy, write

identity(("x", "float32", [2, 3]))
write("x.npy", npy(np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))))
