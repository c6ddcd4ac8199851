"""Makes a model with unused initializers."""

from lib.proto import relu, save, tensor

save(relu(tensors=[tensor("w", dims=(100,)), tensor("v")]))
