"""Makes a PNG picture with too few rows."""

from bad_samples import identity, png, write

identity(("x", "uint8", [1, 3, 8, 8]))
write("x.png", png(2, 2, 8, 2, b"\0abcdef"))
