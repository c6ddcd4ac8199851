"""Makes a model that is quantized with integer operators."""

from lib.proto import INT8, node, relu, save, value

nodes = [node("MatMulInteger", ["q", "q"], ["m"], "m")]
save(relu(nodes=nodes, inputs=[value("q", INT8, (2, 2))]))
