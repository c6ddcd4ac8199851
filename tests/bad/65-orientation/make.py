"""Makes pictures with an EXIF orientation, which is applied."""

import struct

from bad_samples import chunk, identity, png, write

identity(("x", "uint8", [1, 3, 2, 1]))
tiff = b"II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x0112, 3, 1, 6, 0, 0)
for name in "ab":
    write(f"data/{name}.png", png(2, 1, 8, 0, bytes([0, 9, 7]), chunk(b"eXIf", tiff)))
