"""Makes a tensor with 17 dimensions."""

from lib.proto import add, save, tensor

save(add(tensor("w", dims=(1,) * 17, raw=bytes(4))))
