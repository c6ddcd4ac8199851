"""Makes a tensor whose data file is a folder."""

from lib.proto import add, external, save

save(add(external("w", location="w.bin")))
