"""Makes a model with text after its end."""

from lib.proto import relu, save

save(relu() + b"EOF\n")
