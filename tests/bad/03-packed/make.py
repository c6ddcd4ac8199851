"""Makes a model whose dims have a packed number of more than 64 bits."""

from lib.proto import FLOAT, num, relu, save, sized

dims = sized(1, b"\x80" * 10 + b"\x01")
save(relu(tensors=[dims + num(2, FLOAT) + sized(8, "w")]))
