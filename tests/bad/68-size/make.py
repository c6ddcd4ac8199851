"""Makes a model with an open width, which --size has to set."""

from bad_samples import identity, png, write

identity(("x", "float32", [1, 3, "height", "width"]))
write("x.png", png(8, 8, 8, 0, bytes(72)))
