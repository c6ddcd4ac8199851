"""Makes a model with an initializer without a name."""

from lib.proto import relu, save, tensor

save(relu(tensors=[tensor("")]))
