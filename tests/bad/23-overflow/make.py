"""Makes a tensor whose dimensions overflow when multiplied."""

from lib.proto import add, save, tensor

save(add(tensor("w", dims=(1 << 40, 1 << 40), raw=bytes(8))))
