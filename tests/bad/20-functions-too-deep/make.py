"""Makes a model with function calls nested too deep."""

from lib.proto import function, node, opset, relu, save, sized


def save_with(*functions):
    imports = [opset(), opset(1, "local")]
    nodes = [node("f0", ["x"], ["z"], "call", "local")]
    extra = b"".join(sized(25, item) for item in functions)
    save(relu(nodes=nodes, opsets=imports, model_extra=extra))


calls = [function(f"f{i}", [node(f"f{i + 1}", ["a"], ["b"], "call", "local")])
         for i in range(32)]
save_with(*calls, function("f32", [node("Relu", ["a"], ["b"], "relu")]))
