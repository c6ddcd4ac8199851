"""Makes a tensor with a negative dimension."""

from lib.proto import add, save, tensor

save(add(tensor("w", dims=(2, -3), raw=bytes(24))))
