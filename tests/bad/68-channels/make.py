"""Makes a model whose input has one channel, which pictures do not fit."""

from bad_samples import identity, png, write

identity(("x", "float32", [1, 1, 8, 8]))
write("x.png", png(8, 8, 8, 0, bytes(72)))
