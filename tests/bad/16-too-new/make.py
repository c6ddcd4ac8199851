"""Makes a model whose IR version is too new."""

from lib.proto import relu, save

save(relu(ir=15))
