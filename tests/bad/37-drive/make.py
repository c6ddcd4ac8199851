"""Makes a tensor whose external data has a path with a drive letter."""

from lib.proto import add, external, save

save(bytes(8), "w.bin")
save(add(external("w", location="C:/w.bin")))
