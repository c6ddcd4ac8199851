"""Makes a tensor whose length of external data is greater than its dims need."""

from lib.proto import add, external, save

save(bytes(16), "w.bin")
save(add(external("w", location="w.bin", length=12)))
