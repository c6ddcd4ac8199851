"""Makes samples of which a later one has an infinity."""

import numpy as np
from bad_samples import identity, npy, write

identity(("x", "float32", [1, 3]))
stack = np.zeros((5, 3), np.float32)
stack[3, 2] = -np.inf
write("data/a.npy", npy(stack[:1]))
write("data/b.npy", npy(stack))
