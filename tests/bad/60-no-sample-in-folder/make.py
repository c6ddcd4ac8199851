"""Makes a folder without a file that can be a sample."""

from bad_samples import identity, write

identity(("x", "float32", [1, 3]))
write("data/labels.csv", b"cat,dog")
