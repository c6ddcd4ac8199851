"""Makes a BatchNormalization with a negative variance."""

from lib.proto import floats, graph, model, node, save, tensor, value

names = ["scale", "shift", "mean", "var"]
tensors = [tensor(name, dims=(3,)) for name in names[:3]]
tensors.append(tensor("var", dims=(3,), raw=floats(1, -0.25, 1)))
norm = node("BatchNormalization", ["x", *names], ["y"], "norm")
save(model(graph([norm], [value("x", dims=(1, 3, 4, 4))], [value("y", dims=(1, 3, 4, 4))],
                 tensors)))
