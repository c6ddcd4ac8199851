"""Makes a tensor with a negative length of external data."""

from lib.proto import add, external, save

save(bytes(16), "w.bin")
save(add(external("w", location="w.bin", length=-1)))
