"""Makes a tensor whose data path uses a file as a folder."""

from lib.proto import add, external, save

save(bytes(8), "w.bin")
save(add(external("w", location="w.bin/deep.bin")))
