"""Makes a model that declares the wrong type of an output."""

from lib.proto import INT64, graph, model, node, relu, save, value

nodes = [node("Relu", ["x"], ["y"], "relu")]
save(model(graph(nodes, [value("x")], [value("y", INT64)])))
