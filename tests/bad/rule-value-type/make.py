"""Makes a model with an output without a type."""

from lib.proto import graph, model, node, relu, save, sized, value

nodes = [node("Relu", ["x"], ["y"], "relu")]
save(model(graph(nodes, [value("x")], [sized(1, "y")])))
