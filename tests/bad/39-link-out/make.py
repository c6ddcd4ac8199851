"""Makes a tensor whose data file is a symbolic link out of the model's folder."""

from lib.proto import add, external, save

save(add(external("w", location="w.bin")))
