"""Makes a model with the field number 0, which the format does not have."""

from lib.proto import relu, save

save(relu(model_extra=b"\x02\x00"))
