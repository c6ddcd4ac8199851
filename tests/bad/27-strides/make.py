"""Makes a Conv with too many strides."""

from lib.proto import A_INTS, attr, conv, save

save(conv([attr("strides", A_INTS, [2, 2, 2])]))
