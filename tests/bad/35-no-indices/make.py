"""Makes a sparse tensor without indices."""

from lib.proto import num, relu, save, sized, tensor

sparse = sized(1, tensor("s", dims=(3,)))
# no indices
sparse += b"".join(num(3, dim) for dim in (4, 4))
save(relu(extra=sized(15, sparse)))
