"""Makes a PNG picture of width 0."""

from bad_samples import identity, png, write

identity(("x", "uint8", [1, 3, 8, 8]))
write("x.png", png(0, 1, 8, 2, b"\0abcdef"))
