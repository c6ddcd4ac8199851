"""Makes a Conv with group 0."""

from lib.proto import A_INT, attr, conv, save

save(conv([attr("group", A_INT, 0)]))
