"""Makes a model with int4 in an IR version that does not have it."""

from lib.proto import INT4, node, opset, relu, save, tensor

save(relu(nodes=[node("Identity", ["w"], ["z"], "use")], ir=9, opsets=[opset(19)],
          tensors=[tensor("w", INT4, (3,), bytes(2))]))
