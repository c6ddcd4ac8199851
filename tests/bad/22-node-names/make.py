"""Makes a model with a missing and a repeated node name."""

from lib.proto import node, relu, save

save(relu(nodes=[node("Neg", ["x"], ["a"]), node("Abs", ["x"], ["b"], "relu"),
                 node("Exp", ["x"], ["c"], "exp")]))
