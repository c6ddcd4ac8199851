"""Makes a JPEG picture that is cut off."""

from bad_samples import identity, jpeg, picture, write

identity(("x", "uint8", [1, 3, 8, 8]))
write("x.jpg", jpeg(picture(64, 64))[:700])
