from lib.proto import A_FLOAT, attr, node, relu, save

save(relu(nodes=[node("Concat", ["x", "x"], ["z"], "cat", attrs=[attr("axis", A_FLOAT, 0)])]))
