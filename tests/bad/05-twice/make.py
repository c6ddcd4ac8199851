"""Makes a model with two IR versions."""

from lib.proto import num, relu, save

save(relu(model_extra=num(1, 11)))
