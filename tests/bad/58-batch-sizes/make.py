"""Makes samples of different shapes that cannot form one batch."""

import os

import numpy as np
from bad_samples import identity, npy, write

identity(("x", "float32", [2, "width"]))
os.makedirs("data")
write("data/a.npy", npy(np.zeros((1, 3), np.float32)))
write("data/b.npy", npy(np.zeros((1, 4), np.float32)))
