"""Makes a model with the unknown wire type 6."""

from lib.proto import relu, save, tag

save(relu(model_extra=tag(30, 6)))
