"""Makes a model with wire type 4, which ends a group."""

from lib.proto import relu, save, tag

save(relu(model_extra=tag(30, 4)))
