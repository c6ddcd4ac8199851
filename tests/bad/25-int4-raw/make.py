"""Makes an int4 tensor with too few bytes in raw_data."""

from lib.proto import INT4, add, save, tensor

save(add(tensor("w", INT4, (5,), bytes(2))))
