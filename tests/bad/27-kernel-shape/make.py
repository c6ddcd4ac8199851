"""Makes a Conv whose kernel_shape differs from its weight."""

from lib.proto import A_INTS, attr, conv, save

save(conv([attr("kernel_shape", A_INTS, [5, 5])]))
