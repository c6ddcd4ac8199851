"""Makes a tensor with a length of external data over 64 bits."""

from lib.proto import add, external, save

save(bytes(16), "w.bin")
save(add(external("w", location="w.bin", length='99999999999999999999')))
