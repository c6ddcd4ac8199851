"""Makes a JPEG picture with arithmetic coding."""

from bad_samples import identity, jpeg, picture, write

identity(("x", "uint8", [1, 3, 8, 8]))
write("x.jpg", jpeg(picture(8, 8)).replace(b"\xff\xc0", b"\xff\xc9"))
