"""Makes a tensor with an empty offset of external data."""

from lib.proto import add, external, save

save(bytes(16), "w.bin")
save(add(external("w", location="w.bin", offset='')))
