"""Makes a model that computes in bfloat16."""

from lib.proto import add, graph, model, node, save, tensor, value

half = tensor("w", 16, (2,), bytes(4))
nodes = [node("Add", ["x", "w"], ["y"], "add")]
save(model(graph(nodes, [value("x", 16)], [value("y", 16)], [half])))
