"""Makes an .npz archive with a member that claims an impossible compression."""

import zlib

from bad_samples import identity, npz, write

identity(("x", "float32", [1, 3]))
packer = zlib.compressobj(9, wbits=-15)
packed = packer.compress(bytes(10000)) + packer.flush()
write("x.npz", npz([("x.npy", packed)], method=8, size=1 << 30))
