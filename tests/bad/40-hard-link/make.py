"""Makes a tensor whose data file has two hard links."""

from lib.proto import add, external, real, save

save(bytes(8), "real.bin")
save(add(external("w", location="w.bin")))
