"""Makes a tensor whose data file is empty."""

from lib.proto import add, external, save

save(b"", "w.bin")
save(add(external("w", location="w.bin")))
