"""Makes a big model that the command extends while it is read."""

from lib.proto import node, relu, save

nodes = [node("Relu", ["x"], [f"v{i}"], f"node{i}") for i in range(100000)]
save(relu(nodes=nodes))
