"""Makes a PNG picture with a wrong checksum."""

from bad_samples import identity, png, write

identity(("x", "uint8", [1, 3, 8, 8]))
data = bytearray(png(2, 1, 8, 2, b"\0abcdef"))
data[-20] ^= 1
write("x.png", bytes(data))
