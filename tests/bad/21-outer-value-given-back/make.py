"""Makes a model with a nested graph whose output is a value of the outer graph."""

from lib.proto import A_GRAPH, attr, graph, node, relu, save, tensor, value

inner = graph([], outputs=[value("y")])
other = graph([node("Abs", ["x"], ["a"], "abs")], outputs=[value("a")])
branches = [attr("then_branch", A_GRAPH, inner), attr("else_branch", A_GRAPH, other)]
save(relu(nodes=[node("If", ["c"], ["z"], "if", attrs=branches)],
          tensors=[tensor("c", 9, (), bytes(1))]))
