from lib.proto import add, save, tensor

save(add(tensor("w"), ir=3))
