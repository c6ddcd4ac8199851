"""Makes a tensor whose external data has no path."""

from lib.proto import add, external, save

save(add(external("w", offset=0)))
