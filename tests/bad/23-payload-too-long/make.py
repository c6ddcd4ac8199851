"""Makes a tensor with more bytes than its dims need."""

from lib.proto import add, save, tensor

save(add(tensor("w", dims=(2,), raw=bytes(12))))
