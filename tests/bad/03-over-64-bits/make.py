"""Makes a model with a varint of more than 64 bits."""

from lib.proto import relu, save, tag

save(relu(model_extra=tag(5, 0) + b"\xff" * 9 + b"\x02"))
