from lib.proto import node, relu, save

save(relu(nodes=[node("Neg", ["x"], ["y"], "neg")]))
