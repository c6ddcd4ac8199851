"""Makes an int64 tensor whose elements are in float_data."""

from lib.proto import INT64, add, floats, save, sized, tensor

save(add(tensor("w", INT64, (2,), extra=sized(4, floats(1, 2)))))
