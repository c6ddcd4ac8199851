"""Makes a gray PNG picture, which becomes RGB."""

from bad_samples import identity, png, write

identity(("x", "uint8", [1, 3, 1, 2]))
write("x.png", png(2, 1, 8, 0, bytes([0, 9, 7])))
