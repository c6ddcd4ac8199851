from lib.proto import node, relu, save

save(relu(nodes=[node("Neg", ["x"], ["a"]), node("Abs", ["x"], ["b"], "relu"),
                 node("Exp", ["x"], ["c"], "exp")]))
