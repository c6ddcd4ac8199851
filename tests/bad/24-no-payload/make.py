from lib.proto import add, save, tensor

save(add(tensor("w", raw=b"")))
