"""Makes a model with an output that no node produces."""

from lib.proto import node, relu, save, value

save(relu(outputs=[value("logit")], nodes=[node("Neg", ["x"], ["logits"], "neg")]))
