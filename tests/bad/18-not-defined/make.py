from lib.proto import add, node, relu, save, tensor

save(relu(nodes=[node("Add", ["x", "weihgt"], ["z"], "add")], tensors=[tensor("weight")]))
