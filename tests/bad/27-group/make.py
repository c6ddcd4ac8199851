"""Makes a Conv whose group does not divide its output channels."""

from lib.proto import A_INT, attr, conv, save

save(conv([attr("group", A_INT, 3)], channels=9))
