"""Makes a tensor with an offset of external data over 63 bits."""

from lib.proto import add, external, save

save(bytes(16), "w.bin")
save(add(external("w", location="w.bin", offset=9223372036854775808)))
