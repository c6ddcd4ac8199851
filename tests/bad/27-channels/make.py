"""Makes a Conv whose input has the wrong number of channels."""

from lib.proto import conv, save

save(conv(channels=5))
