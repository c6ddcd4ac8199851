"""Makes a folder with a damaged picture."""

from bad_samples import identity, png, write

identity(("x", "uint8", [1, 3, 8, 8]))
good = png(8, 8, 8, 0, bytes(72))
for name in "abcde":
    write(f"data/{name}.png", good)
write("data/c.png", good[:50])
