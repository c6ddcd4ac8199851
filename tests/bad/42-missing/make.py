"""Makes a tensor whose data file is missing."""

from lib.proto import add, external, save

save(add(external("w", location="w.bin")))
