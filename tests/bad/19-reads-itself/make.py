"""Makes a model with a node that takes its own output."""

from lib.proto import node, relu, save

save(relu(nodes=[node("Add", ["x", "a"], ["a"], "own")]))
