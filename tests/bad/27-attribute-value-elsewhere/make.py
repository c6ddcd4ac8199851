"""Makes a Concat whose axis value is in the field of another type."""

from lib.proto import A_INT, node, num, real, relu, save, sized

axis = sized(1, "axis") + real(2, 1) + num(20, A_INT)
save(relu(nodes=[node("Concat", ["x", "x"], ["z"], "cat", attrs=[axis])]))
