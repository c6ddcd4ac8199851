"""Makes a model with a NUL byte in a node name."""

from lib.proto import node, relu, save, sized

save(relu(nodes=[node("Relu", ["x"], ["z"], extra=sized(3, b"a\0b"))]))
