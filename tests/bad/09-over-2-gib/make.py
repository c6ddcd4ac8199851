"""Makes a model that the command extends to 3 GB."""

from lib.proto import relu, save

save(relu())
