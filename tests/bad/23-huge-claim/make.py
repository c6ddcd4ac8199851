"""Makes a tensor that claims 2^47 elements and has none."""

from lib.proto import add, save, tensor

# Says 2^47 elements, has none.
save(add(tensor("w", dims=(1 << 47,), raw=b"")))
