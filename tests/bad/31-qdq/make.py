"""Makes a model that is quantized with Q/DQ pairs."""

from lib.proto import INT8, floats, node, relu, save, tensor

nodes = [node("QuantizeLinear", ["x", "s", "zp"], ["q"], "q"),
         node("DequantizeLinear", ["q", "s", "zp"], ["d"], "d")]
save(relu(nodes=nodes, tensors=[tensor("s", dims=(), raw=floats(0.5)),
                                tensor("zp", INT8, (), bytes(1))]))
