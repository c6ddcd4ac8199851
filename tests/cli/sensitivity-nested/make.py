"""Makes a model with nested graphs for `sensitivity`."""

import cli_models
import numpy as np
from onnx import TensorProto, helper

branch = helper.make_graph([helper.make_node("MatMul", ["product", "inner"], ["then"], "inside")], "then", [],
                           [cli_models.value("then", [1, 4])], [cli_models.tensor("inner", cli_models.numbers(4, 4))])
other = helper.make_graph([helper.make_node("Neg", ["product"], ["else"], "minus")], "else", [], [cli_models.value("else", [1, 4])])
nodes = [
    helper.make_node("MatMul", ["x", "outer"], ["product"], "outside"),
    helper.make_node("ReduceSum", ["x"], ["sum"], "sum", keepdims=0),
    helper.make_node("Greater", ["sum", "zero"], ["up"], "compare"),
    helper.make_node("If", ["up"], ["chosen"], "if", then_branch=branch, else_branch=other),
    helper.make_node("Add", ["product", "chosen"], ["y"], "join"),
]
weights = [cli_models.tensor("outer", cli_models.numbers(4, 4)), cli_models.tensor("zero", np.float32(0))]
cli_models.save(helper.make_graph(nodes, "net", [cli_models.value("x", [1, 4])], [cli_models.value("y", [1, 4])], weights))
np.save("x.npy", np.random.default_rng(3).normal(size=(8, 4)).astype(np.float32))
