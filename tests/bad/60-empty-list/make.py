"""Makes a list of samples that names no file."""

from bad_samples import identity, write

identity(("x", "float32", [1, 3]))
write("list.txt", b"# nothing yet\n\n")
