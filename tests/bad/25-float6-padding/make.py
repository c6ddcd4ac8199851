"""Makes a 6-bit float tensor with bits set after its last element."""

from lib.proto import add, opset, save, tensor

save(add(tensor("w", 27, (2,), b"\xff\xff"), ir=14, opsets=[opset(28)]))
