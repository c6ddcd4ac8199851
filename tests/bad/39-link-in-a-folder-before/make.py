from lib.proto import add, external, save

save(add(external("w", location="data/deep/w.bin")))
