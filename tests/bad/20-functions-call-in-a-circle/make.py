"""Makes a model with functions that call each other in a circle."""

from lib.proto import function, node, opset, relu, save, sized


def save_with(*functions):
    imports = [opset(), opset(1, "local")]
    nodes = [node("f0", ["x"], ["z"], "call", "local")]
    extra = b"".join(sized(25, item) for item in functions)
    save(relu(nodes=nodes, opsets=imports, model_extra=extra))


save_with(
    function("f0", [node("f1", ["a"], ["b"], "to-1", "local")]),
    function("f1", [node("f2", ["a"], ["b"], "to-2", "local")]),
    function("f2", [node("f0", ["a"], ["b"], "to-0", "local")]),
)
