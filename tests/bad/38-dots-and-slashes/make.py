"""Makes a tensor whose external data has a path of dots and double slashes."""

from lib.proto import add, external, save

save(bytes(8), "w.bin")
save(add(external("w", location=".//../w.bin")))
