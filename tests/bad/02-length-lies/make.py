"""Makes a model with a field that claims a terabyte."""

from lib.proto import relu, save, tag, varint

save(relu(model_extra=tag(14, 2) + varint(1 << 40)))
