"""Makes a tensor whose data file is too short."""

from lib.proto import add, external, save

save(bytes(10), "w.bin")
save(add(external("w", dims=(3,), location="w.bin")))
