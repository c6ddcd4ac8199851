"""Makes a weight with a NaN and infinities."""

from lib.proto import add, floats, graph, model, node, save, tensor, value

nan, inf = float("nan"), float("inf")
weight = tensor("w", dims=(3, 2), raw=floats(1, 2, 3, nan, inf, 4))
nodes = [node("Add", ["x", "w"], ["y"], "add")]
save(model(graph(nodes, [value("x", dims=(3, 2))], [value("y", dims=(3, 2))], [weight])))
