"""Makes a CMYK JPEG picture, which is converted to RGB."""

from bad_samples import identity, jpeg, picture, write

identity(("x", "uint8", [1, 3, 8, 8]))
write("x.jpg", jpeg(picture(8, 8, 4), "CMYK"))
