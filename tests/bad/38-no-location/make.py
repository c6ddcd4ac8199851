from lib.proto import add, external, save

save(add(external("w", offset=0)))
