"""Makes a model with a cycle of three nodes."""

from lib.proto import node, relu, save

save(relu(nodes=[node("Add", ["x", "c"], ["a"], "one"), node("Neg", ["a"], ["b"], "two"),
                 node("Abs", ["b"], ["c"], "three")]))
