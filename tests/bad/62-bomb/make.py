"""Makes a small PNG file that claims a huge picture."""

from bad_samples import identity, png, write

identity(("x", "uint8", [1, 3, 8, 8]))
write("x.png", png(16000, 16000, 8, 2, b"\0abcdef"))
