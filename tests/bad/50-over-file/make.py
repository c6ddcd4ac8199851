"""Makes an .npy file whose header is longer than the file."""

from bad_samples import identity, write

identity(("x", "float32", [1, 3]))
write("x.npy", b"\x93NUMPY\2\0" + (60000).to_bytes(4, "little") + bytes(99))
