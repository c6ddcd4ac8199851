"""Makes a tensor whose external data has an unknown key."""

from lib.proto import add, external, save

save(bytes(16), "w.bin")
save(add(external("w", location="w.bin", lenght=8)))
