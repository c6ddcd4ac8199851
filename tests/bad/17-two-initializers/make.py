"""Makes a model with two initializers of the same name."""

from lib.proto import relu, save, tensor

save(relu(tensors=[tensor("w"), tensor("w")]))
