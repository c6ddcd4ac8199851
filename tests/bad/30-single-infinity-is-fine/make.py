"""Makes a constant that is a single infinity, which is allowed."""

from lib.proto import add, floats, save, tensor

save(add(tensor("w", dims=(1,), raw=floats(float("-inf")))))
