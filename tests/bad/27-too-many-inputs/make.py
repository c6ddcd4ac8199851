"""Makes a Relu with two inputs."""

from lib.proto import node, relu, save

save(relu(nodes=[node("Relu", ["x", "x"], ["z"], "r")]))
