"""Makes a tensor with both raw_data and float_data."""

from lib.proto import add, floats, save, sized, tensor

save(add(tensor("w", raw=floats(1, 2), extra=sized(4, floats(1, 2)))))
