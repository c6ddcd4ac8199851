from lib.proto import node, relu, save

save(relu(nodes=[node("Gelu", ["x"], ["z"], "gelu", "com.microsoft")]))
