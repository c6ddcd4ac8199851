"""Makes a Conv with a stride of 0."""

from lib.proto import A_INTS, attr, conv, save

save(conv([attr("strides", A_INTS, [2, 0])]))
