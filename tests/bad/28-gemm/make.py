"""Makes a Gemm with an empty weight."""

from lib.proto import graph, model, node, save, tensor, value

gemm = node("Gemm", ["x", "w"], ["y"], "gemm")
save(model(graph([gemm], [value("x", dims=(1, 2))], [value("y", dims=(1, 0))],
                 [tensor("w", dims=(2, 0), raw=b"")])))
