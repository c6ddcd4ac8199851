"""Makes a tensor with fewer bytes than its dims need."""

from lib.proto import add, save, tensor

save(add(tensor("w", dims=(100,), raw=bytes(396))))
