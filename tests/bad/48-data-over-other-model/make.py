"""Makes a model whose data file must not replace another model."""

from lib.proto import add, external, floats, save

save(floats(1, 2), "w.bin")
save(add(external("w", location="w.bin", length=8)))
