from lib.proto import node, relu, save

save(relu(nodes=[node("Upsample", ["x", "x"], ["z"], "up")]))
