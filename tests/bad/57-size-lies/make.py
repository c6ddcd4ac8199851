"""Makes an .npz archive with a member of another size than it claims."""

import zlib

import numpy as np
from bad_samples import identity, npy, npz, write

identity(("x", "float32", [1, 3]))
packer = zlib.compressobj(9, wbits=-15)
data = npy(np.zeros((1, 3), np.float32))
packed = packer.compress(data) + packer.flush()
write("x.npz", npz([("x.npy", packed)], method=8, size=len(data) * 2, crc=zlib.crc32(data)))
