"""Makes a tensor whose external data has a checksum that is no SHA-1 sum."""

from lib.proto import add, external, save

save(bytes(16), "w.bin")
save(add(external("w", location="w.bin", checksum='sha1')))
