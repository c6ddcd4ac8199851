"""Makes a JPEG picture with too many scans."""

from bad_samples import identity, jpeg, picture, write

identity(("x", "uint8", [1, 3, 8, 8]))
data = jpeg(picture(8, 8), progressive=True)
scan = data.index(b"\xff\xda")
write("x.jpg", data[:-2] + data[scan:scan + 14] * 501 + b"\xff\xd9")
