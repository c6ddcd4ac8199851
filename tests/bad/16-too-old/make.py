"""Makes a model whose IR version is too old."""

from lib.proto import relu, save

save(relu(ir=2))
