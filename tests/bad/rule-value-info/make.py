"""Makes a model with types of values that do not exist."""

from lib.proto import relu, save, sized, value

save(relu(extra=sized(13, value("gone")) + sized(13, value("y"))))
