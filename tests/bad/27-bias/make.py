"""Makes a Conv with a bias of the wrong size."""

from lib.proto import conv, save, tensor

save(conv(bias=tensor("b", dims=(5,))))
