"""Makes a sparse tensor with indices of type int32."""

from lib.proto import num, relu, save, sized, tensor

sparse = sized(1, tensor("s", dims=(3,)))
sparse += sized(2, tensor("", 6, (3,), bytes(12)))
sparse += b"".join(num(3, dim) for dim in (4, 4))
save(relu(extra=sized(15, sparse)))
