"""Makes a model with a node name of 5000 bytes."""

from lib.proto import node, relu, save

save(relu(nodes=[node("Relu", ["x"], ["z"], name="n" * 5000)]))
