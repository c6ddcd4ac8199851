"""Makes a model whose input shape leaves the channel axis open."""

from bad_samples import identity, png, write

identity(("x", "float32", [1, 3, 8, 3]))
write("x.png", png(8, 8, 8, 0, bytes(72)))
