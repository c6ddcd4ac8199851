"""Makes a model whose dims have the wire type of a float."""

from lib.proto import FLOAT, num, real, relu, save, sized

save(relu(tensors=[real(1, 2.0) + num(2, FLOAT) + sized(8, "w")]))
