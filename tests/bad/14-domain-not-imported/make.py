"""Makes a model with an operator whose domain is not imported."""

from lib.proto import node, relu, save

save(relu(nodes=[node("Gelu", ["x"], ["z"], "gelu", "com.microsoft")]))
