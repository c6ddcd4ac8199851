"""Makes a model with graphs nested 60 deep."""

from lib.proto import A_GRAPH, attr, graph, model, node, save

inner = graph([])
for _ in range(60):
    inner = graph([node("If", ["c"], ["y"], attrs=[attr("then_branch", A_GRAPH, inner)])])
save(model(inner))
