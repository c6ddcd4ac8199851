"""Makes pictures with a color profile, which is ignored."""

from bad_samples import chunk, identity, png, write

identity(("x", "uint8", [1, 3, 1, 2]))
for name in "ab":
    write(f"data/{name}.png", png(2, 1, 8, 0, bytes([0, 9, 7]), chunk(b"iCCP", b"any\0\0profile")))
