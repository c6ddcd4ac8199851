"""Makes a PNG picture with an alpha channel, which is dropped."""

from bad_samples import identity, png, write

identity(("x", "uint8", [1, 3, 1, 2]))
write("x.png", png(2, 1, 8, 6, bytes([0, 9, 9, 9, 0, 7, 7, 7, 128])))
