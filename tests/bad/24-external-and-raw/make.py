"""Makes a tensor with both external data and raw_data."""

from lib.proto import add, external, floats, save, sized

save(bytes(8), "w.bin")
save(add(external("w", location="w.bin", extra=sized(9, floats(1, 2)))))
