"""Makes an .npz archive with a wrong checksum."""

import numpy as np
from bad_samples import identity, npy, npz, write

identity(("x", "float32", [1, 3]))
write("x.npz", npz([("x.npy", npy(np.zeros((1, 3), np.float32)))], crc=0x12345678))
