from lib.proto import INT4, node, opset, relu, save, tensor

save(relu(nodes=[node("Identity", ["w"], ["z"], "use")], ir=9, opsets=[opset(19)],
          tensors=[tensor("w", INT4, (3,), bytes(2))]))
