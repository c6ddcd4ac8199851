"""Makes a GIF picture with the suffix of a PNG."""

from bad_samples import identity, write

identity(("x", "uint8", [1, 3, 8, 8]))
write("x.png", b"GIF89a" + bytes(20))
