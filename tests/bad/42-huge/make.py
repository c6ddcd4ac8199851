"""Makes a tensor that claims far more bytes than its data file has."""

from lib.proto import add, external, save

save(bytes(8), "w.bin")
save(add(external("w", dims=(1 << 46,), location="w.bin")))
