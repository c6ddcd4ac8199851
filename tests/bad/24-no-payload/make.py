"""Makes a tensor without a payload."""

from lib.proto import add, save, tensor

save(add(tensor("w", raw=b"")))
