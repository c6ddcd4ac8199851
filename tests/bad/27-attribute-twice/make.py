"""Makes a Concat with two axis attributes."""

from lib.proto import A_INT, attr, node, relu, save

axis = attr("axis", A_INT, 0)
save(relu(nodes=[node("Concat", ["x", "x"], ["z"], "cat", attrs=[axis, axis])]))
