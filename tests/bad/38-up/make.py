"""Makes a tensor whose external data is in the parent folder."""

from lib.proto import add, external, save

save(bytes(8), "w.bin")
save(add(external("w", location="../w.bin")))
