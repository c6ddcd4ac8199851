"""Makes a Relu with an attribute that Relu does not have."""

from lib.proto import A_FLOAT, attr, node, relu, save

save(relu(nodes=[node("Relu", ["x"], ["z"], "r", attrs=[attr("alpha", A_FLOAT, 0.1)])]))
