"""Makes a tensor with a negative offset of external data."""

from lib.proto import add, external, save

save(bytes(16), "w.bin")
save(add(external("w", location="w.bin", offset=-8)))
