"""Makes a graph without a name."""

from lib.proto import graph, model, node, relu, save, value

nodes = [node("Relu", ["x"], ["y"], "relu")]
save(model(graph(nodes, [value("x")], [value("y")], name="")))
