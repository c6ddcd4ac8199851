from lib.proto import add, save, tensor

# Says 2^47 elements, has none.
save(add(tensor("w", dims=(1 << 47,), raw=b"")))
