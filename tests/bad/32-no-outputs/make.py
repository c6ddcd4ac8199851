"""Makes a model without outputs."""

from lib.proto import graph, model, node, relu, save, value

save(model(graph([node("Relu", ["x"], ["y"], "relu")], [value("x")])))
