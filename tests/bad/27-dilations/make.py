"""Makes a Conv with too few dilations."""

from lib.proto import A_INTS, attr, conv, save

save(conv([attr("dilations", A_INTS, [1])]))
