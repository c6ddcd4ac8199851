"""Makes a tensor whose offset of external data starts with a blank."""

from lib.proto import add, external, save

save(bytes(16), "w.bin")
save(add(external("w", location="w.bin", offset=' 8')))
