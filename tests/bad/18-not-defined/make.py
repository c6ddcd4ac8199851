"""Makes a model with a node that takes an undefined value."""

from lib.proto import add, node, relu, save, tensor

save(relu(nodes=[node("Add", ["x", "weihgt"], ["z"], "add")], tensors=[tensor("weight")]))
