"""Makes a big model that the command truncates while it is read."""

from lib.proto import node, relu, save, tensor

# Nodes enough that reading takes a while, weights behind them.
nodes = [node("Relu", ["x"], [f"v{i}"], f"node{i}") for i in range(100000)]
save(relu(nodes=nodes, tensors=[tensor("w", dims=(1 << 20,))]))
