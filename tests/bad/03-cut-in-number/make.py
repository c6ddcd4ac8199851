"""Makes a model that ends within a varint."""

from lib.proto import relu, save, tag

save(relu() + tag(5, 0) + b"\xff\xff")
