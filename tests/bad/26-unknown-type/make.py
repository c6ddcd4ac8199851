"""Makes a tensor of an unknown element type."""

from lib.proto import add, save, tensor

save(add(tensor("w", 99, (2,), bytes(8))))
