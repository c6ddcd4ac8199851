"""Makes an empty sample file."""

from bad_samples import identity, write

identity(("x", "float32", [1, 3]))
write("x.npy", b"")
