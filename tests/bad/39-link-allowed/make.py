"""Makes a tensor whose data file is a symbolic link, which --allow-links accepts."""

from lib.proto import add, external, real, save

save(bytes(8), "real.bin")
save(add(external("w", location="w.bin")))
