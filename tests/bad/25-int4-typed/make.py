"""Makes an int4 tensor with too many numbers in int32_data."""

from lib.proto import INT4, add, save, sized, tensor

save(add(tensor("w", INT4, (5,), extra=sized(5, bytes(5)))))
