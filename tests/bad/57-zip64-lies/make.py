"""Makes an .npz archive whose zip64 size is wrong."""

import struct

import numpy as np
from bad_samples import identity, npy, npz, write

identity(("x", "float32", [1, 3]))
write("x.npz", npz([("x.npy", npy(np.zeros((1, 3), np.float32)))], size=0xffffffff,
                    extra=struct.pack("<HHQ", 1, 8, 1 << 40)))
