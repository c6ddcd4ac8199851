"""Makes an animated PNG picture, of which the default picture is read."""

from bad_samples import chunk, identity, png, write

identity(("x", "uint8", [1, 3, 1, 2]))
write("x.png", png(2, 1, 8, 0, bytes([0, 9, 7]), chunk(b"acTL", bytes([0, 0, 0, 2, 0, 0, 0, 0]))))
