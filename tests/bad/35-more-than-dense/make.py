"""Makes a sparse tensor with more values than its dense form has."""

from lib.proto import INT64, longs, num, relu, save, sized, tensor

sparse = sized(1, tensor("s", dims=(5,)))
sparse += sized(2, tensor("", INT64, (5,), longs(0, 1, 2, 3, 4)))
sparse += b"".join(num(3, dim) for dim in (2, 2))
save(relu(extra=sized(15, sparse)))
