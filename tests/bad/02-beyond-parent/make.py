"""Makes a model with a node name that reaches beyond the end of its node."""

from lib.proto import model, node, save, sized, tag, varint

# The node's name reaches beyond the node, but not beyond the file.
broken = tag(3, 2) + varint(60) + b"abc"
save(model(sized(1, broken) + sized(2, "g") + sized(10, "d" * 100)))
