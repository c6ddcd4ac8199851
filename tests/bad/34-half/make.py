"""Makes a model that computes in float16."""

from lib.proto import FLOAT16, add, graph, model, node, save, tensor, value

half = tensor("w", FLOAT16, (2,), bytes(4))
nodes = [node("Add", ["x", "w"], ["y"], "add")]
save(model(graph(nodes, [value("x", FLOAT16)], [value("y", FLOAT16)], [half])))
