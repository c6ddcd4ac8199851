"""Makes a model that must not replace itself."""

from lib.proto import add, external, floats, save

save(floats(1, 2), "w.bin")
save(add(external("w", location="w.bin", length=8)))
