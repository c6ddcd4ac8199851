"""Makes an .npy file of an unknown version."""

from bad_samples import identity, write

identity(("x", "float32", [1, 3]))
write("x.npy", b"\x93NUMPY\4\0" + bytes(60))
