"""Makes a sparse tensor with unsorted indices."""

from lib.proto import INT64, longs, num, relu, save, sized, tensor

sparse = sized(1, tensor("s", dims=(3,)))
sparse += sized(2, tensor("", INT64, (3,), longs(0, 9, 5)))
sparse += b"".join(num(3, dim) for dim in (4, 4))
save(relu(extra=sized(15, sparse)))
