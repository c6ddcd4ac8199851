from lib.proto import save, tensor

save(tensor("x", dims=(1, 3, 224)))
