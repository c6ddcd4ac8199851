"""Makes a model with two graph inputs of the same name."""

from lib.proto import relu, save, value

save(relu(inputs=[value("x")]))
