"""Makes a model that the command makes unreadable."""

from lib.proto import relu, save

save(relu())
