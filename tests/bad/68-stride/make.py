"""Makes a model for --stride that does not divide the size."""

from bad_samples import identity, png, write

identity(("x", "float32", [1, 3, 8, 8]))
write("x.png", png(8, 8, 8, 0, bytes(72)))
