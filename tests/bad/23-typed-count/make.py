"""Makes a tensor with fewer elements in float_data than its dims need."""

from lib.proto import add, floats, save, sized, tensor

save(add(tensor("w", dims=(3,), extra=sized(4, floats(1, 2)))))
