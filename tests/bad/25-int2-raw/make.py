"""Makes an int2 tensor with too few bytes in raw_data."""

from lib.proto import add, opset, save, tensor

save(add(tensor("w", 26, (9,), bytes(2)), ir=13, opsets=[opset(25)]))
