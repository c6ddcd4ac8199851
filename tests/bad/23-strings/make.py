"""Makes a tensor of strings with fewer elements than its dims need."""

from lib.proto import STRING, add, save, sized, tensor

save(add(tensor("w", STRING, (3,), extra=sized(6, "a") + sized(6, "b"))))
