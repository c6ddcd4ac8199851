"""Makes a JPEG picture without pixel data."""

from bad_samples import identity, jpeg, picture, write

identity(("x", "uint8", [1, 3, 8, 8]))
data = jpeg(picture(64, 64))
scan = data.index(b"\xff\xda")
write("x.jpg", data[:scan + 14] + b"\xff\xd9")
