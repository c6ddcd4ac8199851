"""Makes a PNG picture with a palette, which becomes RGB."""

from bad_samples import chunk, identity, png, write

identity(("x", "uint8", [1, 3, 1, 2]))
write("x.png", png(2, 1, 8, 3, bytes([0, 1, 0]), chunk(b"PLTE", bytes([1, 2, 3, 4, 5, 6]))))
