"""Makes a Conv with an unknown auto_pad."""

from lib.proto import A_STRING, attr, conv, save

save(conv([attr("auto_pad", A_STRING, "SAME")]))
