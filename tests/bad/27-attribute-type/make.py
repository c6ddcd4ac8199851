"""Makes a Concat whose axis attribute is a float."""

from lib.proto import A_FLOAT, attr, node, relu, save

save(relu(nodes=[node("Concat", ["x", "x"], ["z"], "cat", attrs=[attr("axis", A_FLOAT, 0)])]))
