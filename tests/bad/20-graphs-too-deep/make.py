"""Makes a model with graphs nested deeper than the checker allows."""

from lib.proto import A_GRAPH, attr, graph, model, node, save, sized, tensor, value

inner = graph([node("Neg", ["x"], ["n0"], "neg")], outputs=[value("n0")])
for i in range(1, 34):
    other = graph([node("Abs", ["x"], [f"a{i}"], "abs")], outputs=[value(f"a{i}")])
    branches = [attr("then_branch", A_GRAPH, inner), attr("else_branch", A_GRAPH, other)]
    inner = graph([node("If", ["c"], [f"n{i}"], "if", attrs=branches)],
                  [], [value(f"n{i}")])
inner += sized(11, value("x")) + sized(5, tensor("c", 9, (), bytes(1)))
save(model(inner))
