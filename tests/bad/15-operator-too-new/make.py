"""Makes a model with an operator that its opset does not have yet."""

from lib.proto import node, opset, relu, save

save(relu(opsets=[opset(17)], nodes=[node("Gelu", ["x"], ["z"], "gelu")]))
