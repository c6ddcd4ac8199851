"""Makes a model with operators of unknown domains for `check --custom-ops`."""

from lib.proto import node, opset, relu, save

nodes = [node("Frob", ["x"], ["a"], "frob", "com.acme"),
         node("Warp", ["a"], ["b"], "warp", "com.acme"),
         node("Think", ["b"], ["c"], "think", "org.lab")]
save(relu(nodes=nodes, opsets=[opset(), opset(1, "com.acme"), opset(3, "org.lab")]))
