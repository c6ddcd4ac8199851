"""Makes a folder with pictures and arrays."""

import numpy as np
from bad_samples import identity, npy, png, write

identity(("x", "uint8", [1, 3, 8, 8]))
write("data/a.png", png(2, 1, 8, 0, bytes([0, 9, 7])))
write("data/b.npy", npy(np.zeros((1, 3, 8, 8), np.uint8)))
