"""Makes a PNG picture that is too wide."""

from bad_samples import identity, png, write

identity(("x", "uint8", [1, 3, 8, 8]))
write("x.png", png(40000, 1, 8, 2, b"\0abcdef"))
