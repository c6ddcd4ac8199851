"""Makes a model whose int64 payload has a packed number of more than 64 bits."""

from lib.proto import INT64, relu, save, sized, tensor

late = b"\xff" * 9 + b"\x02"
save(relu(tensors=[tensor("w", INT64, (3,), extra=sized(7, b"\x01\x02" + late))]))
