"""Makes a model with a repeated metadata key."""

from lib.proto import pair, relu, save, sized

save(relu(model_extra=sized(14, pair("author", "a")) + sized(14, pair("author", "b"))))
