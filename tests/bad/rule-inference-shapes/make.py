"""Makes a MatMul of matrices whose sizes do not match."""

from lib.proto import graph, model, node, save, tensor, value

weight = tensor("w", dims=(3, 2), raw=bytes(24))
nodes = [node("MatMul", ["x", "w"], ["y"], "matmul")]
save(model(graph(nodes, [value("x", dims=(1, 4))], [value("y", dims=(1, 2))], [weight])))
