"""Makes a model with a function that takes an undefined value."""

from lib.proto import add, function, node, opset, relu, save, sized


def save_with(*functions):
    imports = [opset(), opset(1, "local")]
    nodes = [node("f0", ["x"], ["z"], "call", "local")]
    extra = b"".join(sized(25, item) for item in functions)
    save(relu(nodes=nodes, opsets=imports, model_extra=extra))


save_with(function("f0", [node("Add", ["a", "gone"], ["c"], "add")]))
