"""Makes a model whose training graph takes an undefined value."""

from lib.proto import graph, node, pair, relu, save, sized, value

step = graph([node("Mul", ["y", "gone"], ["w1"], "mul")], name="step", outputs=[value("w1")])
save(relu(model_extra=sized(20, sized(2, step) + sized(4, pair("w", "w1")))))
