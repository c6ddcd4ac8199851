"""Makes a model with a function of its own domain, which is allowed."""

from lib.proto import function, node, opset, relu, save, sized


def save_with(*functions):
    imports = [opset(), opset(1, "local")]
    nodes = [node("f0", ["x"], ["z"], "call", "local")]
    extra = b"".join(sized(25, item) for item in functions)
    save(relu(nodes=nodes, opsets=imports, model_extra=extra))


save_with(function("f0", [node("Relu", ["a"], ["b"], "r")]))
