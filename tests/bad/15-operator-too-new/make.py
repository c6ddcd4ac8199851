from lib.proto import node, opset, relu, save

save(relu(opsets=[opset(17)], nodes=[node("Gelu", ["x"], ["z"], "gelu")]))
