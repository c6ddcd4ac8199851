"""Makes a model of IR version 3 with an initializer that is not a graph input."""

from lib.proto import add, save, tensor

save(add(tensor("w"), ir=3))
