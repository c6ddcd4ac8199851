"""Makes an Add without its first input."""

from lib.proto import node, relu, save

save(relu(nodes=[node("Add", ["", "x"], ["z"], "a")]))
