"""Makes a float16 weight with an infinity."""

from lib.proto import FLOAT16, add, graph, model, node, save, tensor, value

weight = tensor("w", FLOAT16, (3,), b"\0\x3c\0\xfc\0\x3c")
nodes = [node("Add", ["x", "w"], ["y"], "add")]
ports = [value("x", FLOAT16, (3,))], [value("y", FLOAT16, (3,))]
save(model(graph(nodes, *ports, [weight])))
