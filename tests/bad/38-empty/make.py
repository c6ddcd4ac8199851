"""Makes a tensor whose external data has an empty path."""

from lib.proto import add, external, save

save(bytes(8), "w.bin")
save(add(external("w", location="")))
