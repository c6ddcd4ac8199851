"""Makes a model that lists an output twice."""

from lib.proto import relu, save, value

save(relu(outputs=[value("y")]))
