"""Makes a model with two nodes that produce the same value."""

from lib.proto import node, relu, save

save(relu(nodes=[node("Neg", ["x"], ["y"], "neg")]))
