"""Makes a Conv with too few pads."""

from lib.proto import A_INTS, attr, conv, save

save(conv([attr("pads", A_INTS, [1, 1])]))
