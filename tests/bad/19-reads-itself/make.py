from lib.proto import node, relu, save

save(relu(nodes=[node("Add", ["x", "a"], ["a"], "own")]))
