"""Makes a model with a node before the producer of its input."""

from lib.proto import node, relu, save

save(relu(nodes=[node("Neg", ["a"], ["b"], "late"), node("Abs", ["x"], ["a"], "early")]))
