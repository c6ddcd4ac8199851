"""Makes a tensor without an element type."""

from lib.proto import add, save, tensor

save(add(tensor("w", 0, (2,), bytes(8))))
