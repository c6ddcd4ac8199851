"""Makes a Conv with a complex weight."""

from lib.proto import COMPLEX64, conv, save, tensor

save(conv(weight=tensor("w", COMPLEX64, (4, 3, 3, 3), bytes(8 * 108))))
