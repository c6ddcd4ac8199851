"""Makes a tensor whose offset is after the end of its data file."""

from lib.proto import add, external, save

save(bytes(8), "w.bin")
save(add(external("w", location="w.bin", offset=9)))
