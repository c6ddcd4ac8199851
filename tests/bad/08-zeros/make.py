from lib.proto import save

save(bytes(4096))
