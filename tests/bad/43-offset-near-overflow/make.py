"""Makes a tensor whose offset plus length of external data overflows."""

from lib.proto import add, external, save

save(bytes(16), "w.bin")
save(add(external("w", location="w.bin", offset=9223372036854775800)))
