"""Makes a model with wire type 3, which starts a group."""

from lib.proto import relu, save, tag

save(relu(model_extra=tag(30, 3)))
