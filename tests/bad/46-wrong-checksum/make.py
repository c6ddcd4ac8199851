"""Makes a tensor whose external data has a wrong checksum."""

from lib.proto import add, external, save

save(bytes(16), "w.bin")
save(add(external("w", location="w.bin", checksum='0123456789012345678901234567890123456789')))
