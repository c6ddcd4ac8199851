"""Makes a Conv with an empty weight."""

from lib.proto import conv, save

save(conv(dims=(0, 3, 3, 3)))
