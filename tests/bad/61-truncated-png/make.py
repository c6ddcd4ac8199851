"""Makes a PNG picture that is cut off."""

from bad_samples import identity, png, write

identity(("x", "uint8", [1, 3, 8, 8]))
write("x.png", png(2, 1, 8, 2, b"\0abcdef", end=False))
