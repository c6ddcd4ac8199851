"""Makes a model with an operator that its opset no longer has."""

from lib.proto import node, relu, save

save(relu(nodes=[node("Upsample", ["x", "x"], ["z"], "up")]))
