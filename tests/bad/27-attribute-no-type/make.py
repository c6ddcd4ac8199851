"""Makes a Concat whose axis attribute has no type."""

from lib.proto import node, num, relu, save, sized

axis = sized(1, "axis") + num(3, 1)
save(relu(nodes=[node("Concat", ["x", "x"], ["z"], "cat", attrs=[axis])]))
