"""Makes a model with zero bytes after its end."""

from lib.proto import relu, save

save(relu() + bytes(16))
