"""Makes a model with hostile names."""

import numpy as np
from onnx import helper

import cli_models

names = ["</script><script>alert(1)</script>", "x" * 4096, "\u202edesrever\"'&", "a\tb\nc\\"]
nodes = [
    helper.make_node("MatMul", ["\u00e4 </title>", "weight"], [names[0]], names[1]),
    helper.make_node("Relu", [names[0]], [names[1]], names[2]),
    helper.make_node("Add", [names[1], "bias"], [names[2]], names[0]),
    helper.make_node("Sigmoid", [names[2]], [names[3]], names[3]),
]
weights = [cli_models.tensor("weight", cli_models.numbers(8, 4)), cli_models.tensor("bias", cli_models.numbers(4))]
cli_models.save(helper.make_graph(nodes, "net", [cli_models.value("\u00e4 </title>", [1, 8])],
                                  [cli_models.value(names[3], [1, 4])], weights))
np.save("x.npy", np.random.default_rng(1).normal(size=(9, 8)).astype(np.float32))
