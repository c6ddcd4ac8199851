"""Makes a model that ends within a 64-bit field."""

from lib.proto import relu, save, tag

save(relu(model_extra=tag(99, 1) + b"abc"))
