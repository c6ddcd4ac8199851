"""Makes a tensor whose data file lies behind a symbolic link to a folder."""

from lib.proto import add, external, save

save(add(external("w", location="data/deep/w.bin")))
