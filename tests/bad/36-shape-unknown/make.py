"""Makes a model without open dimensions for `copy --shape`."""

from lib.proto import A_GRAPH, attr, graph, node, relu, save, tensor, value

inner = graph([node("Neg", ["x"], ["n"], "inner-neg")], outputs=[value("n")])
other = graph([node("Abs", ["x"], ["a"], "inner-abs")], outputs=[value("a")])
branches = [attr("then_branch", A_GRAPH, inner), attr("else_branch", A_GRAPH, other)]
save(relu(nodes=[node("If", ["c"], ["z"], "branch", attrs=branches)],
          tensors=[tensor("c", 9, (), bytes(1))]))
