"""Makes a Constant node with a NaN."""

from lib.proto import A_TENSOR, attr, floats, node, relu, save, tensor, value

constant = tensor("", dims=(5000,), raw=floats(*[1] * 4998, float("nan"), 1))
save(relu(nodes=[node("Constant", [], ["k"], "k", attrs=[attr("value", A_TENSOR, constant)])]))
