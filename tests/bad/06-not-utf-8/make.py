"""Makes a model with a node name that is not UTF-8."""

from lib.proto import node, relu, save, sized

save(relu(nodes=[node("Relu", ["x"], ["z"], extra=sized(3, b"re\xfflu"))]))
