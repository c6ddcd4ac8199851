from lib.proto import relu, save, tensor

save(relu(tensors=[tensor("")]))
