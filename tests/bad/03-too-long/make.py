"""Makes a model with a varint of more than 10 bytes."""

from lib.proto import relu, save, tag

save(relu(model_extra=tag(5, 0) + b"\x80" * 10 + b"\x01"))
