"""Makes a Conv whose weight has only two dimensions."""

from lib.proto import conv, save

save(conv(dims=(4, 3)))
