"""Makes a Conv with a weight of strings."""

from lib.proto import STRING, conv, save, sized, tensor

strings = b"".join(sized(6, "") for _ in range(108))
save(conv(weight=tensor("w", STRING, (4, 3, 3, 3), extra=strings)))
