"""Makes a model with unsorted nodes for `copy --sort`."""

from lib.proto import node, relu, save

save(relu(nodes=[node("Neg", ["a"], ["b"], "late"), node("Abs", ["x"], ["a"], "early")]))
