"""Makes an .npy file with wrong first bytes."""

from bad_samples import identity, write

identity(("x", "float32", [1, 3]))
write("x.npy", b"\x93NUMPI\1\0" + bytes(60))
