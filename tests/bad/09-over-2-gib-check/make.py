"""Makes a model that the command extends to 2 GiB before it copies it."""

from lib.proto import relu, save

save(relu())
