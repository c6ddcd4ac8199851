"""Makes a model with a node output named like a graph input."""

from lib.proto import node, relu, save

save(relu(nodes=[node("Neg", ["y"], ["x"], "neg")]))
