from lib.proto import add, external, save

save(bytes(8), "w.bin")
save(add(external("w", location="a/../../w.bin")))
