"""Makes a PNG picture with 16 bits per channel, which are reduced to 8."""

from bad_samples import identity, png, write

identity(("x", "uint8", [1, 3, 1, 2]))
write("x.png", png(2, 1, 16, 0, bytes([0, 9, 255, 7, 0])))
