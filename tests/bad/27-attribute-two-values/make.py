"""Makes a Concat whose axis attribute has two values."""

from lib.proto import A_INT, attr, node, relu, save, sized

axis = attr("axis", A_INT, 1) + sized(4, "one")
save(relu(nodes=[node("Concat", ["x", "x"], ["z"], "cat", attrs=[axis])]))
