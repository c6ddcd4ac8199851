"""Makes a model with a node that takes a value of a nested graph from outside."""

from lib.proto import A_GRAPH, attr, graph, node, relu, save, tensor, value

inner = graph([node("Neg", ["x"], ["n"], "neg")], outputs=[value("n")])
other = graph([node("Abs", ["x"], ["a"], "abs")], outputs=[value("a")])
branches = [attr("then_branch", A_GRAPH, inner), attr("else_branch", A_GRAPH, other)]
save(relu(nodes=[node("If", ["c"], ["z"], "if", attrs=branches),
                 node("Relu", ["n"], ["r"], "reads-inside")],
          tensors=[tensor("c", 9, (), bytes(1))]))
