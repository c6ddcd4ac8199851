"""Makes a tensor whose external data gives a key twice."""

from lib.proto import add, external, pair, save, sized

save(bytes(8), "w.bin")
save(add(external("w", location="w.bin", extra=sized(13, pair("location", "w.bin")))))
