"""Makes a model with a graph input of an unknown element type."""

from lib.proto import relu, save, value

save(relu(inputs=[value("u", 77)]))
