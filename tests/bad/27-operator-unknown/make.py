"""Makes a node with a misspelled operator."""

from lib.proto import node, relu, save

save(relu(nodes=[node("Rleu", ["x"], ["z"], "r")]))
