"""Makes a model with a nested graph that takes an undefined value."""

from lib.proto import A_GRAPH, attr, graph, node, relu, save, tensor, value

inner = graph([node("Neg", ["gone"], ["n"], "neg")], outputs=[value("n")])
branches = [attr("then_branch", A_GRAPH, inner), attr("else_branch", A_GRAPH, inner)]
save(relu(nodes=[node("If", ["c"], ["z"], "if", attrs=branches)],
          tensors=[tensor("c", 9, (), bytes(1))]))
