"""Makes a tensor with a hexadecimal offset of external data."""

from lib.proto import add, external, save

save(bytes(16), "w.bin")
save(add(external("w", location="w.bin", offset='0x8')))
