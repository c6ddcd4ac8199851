"""Makes a folder with pictures of unknown formats."""

from bad_samples import identity, write

identity(("x", "uint8", [1, 3, 8, 8]))
write("data/a.gif", b"GIF89a")
write("data/b.heic", b"")
