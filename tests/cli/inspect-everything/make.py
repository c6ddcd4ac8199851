"""Makes a model with everything that `inspect` reports."""

import numpy as np
from onnx import TensorProto, helper

import cli_models

# A function, metadata that would like to talk to the terminal, sparse weights,
# an unused tensor, a sequence, and inputs that have values.
function = helper.make_function(
    "org.example", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])],
    [helper.make_opsetid("", 17)],
)
nodes = [
    helper.make_node("Twice", ["x"], ["t"], "twice", domain="org.example"),
    helper.make_node("MatMul", ["t", "sparse"], ["m"], "sparse_matmul"),
    helper.make_node("SequenceConstruct", ["m"], ["s"], "sequence"),
    helper.make_node("Constant", [], ["c"], "constant",
                     value=cli_models.tensor("c", np.array([1, 2], np.int64))),
    helper.make_node("Reshape", ["x", "c"], ["r"], "reshape"),
]
sparse = helper.make_sparse_tensor(
    cli_models.tensor("sparse", np.float32([1, 2])),
    cli_models.tensor("", np.int64([0, 3])), [2, 2])
graph = helper.make_graph(
    nodes, "all", [cli_models.value("x", ["N", 2]), cli_models.value("bias", [2])],
    [helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, ["N", 2]),
     cli_models.value("r", None)],
    [cli_models.tensor("bias", cli_models.numbers(2)),
     cli_models.tensor("names", np.array([b"one", b"three"], dtype=object))],
)
graph.sparse_initializer.append(sparse)
graph.metadata_props.add(key="k", value="v")
model = cli_models.save(
    graph, opset=[("", 17), ("org.example", 1)], functions=[function],
    domain="org.example", model_version=3)
model.metadata_props.add(key="author", value="\x1b[31mred\x1b[0m")
model.metadata_props.add(key="long", value="0123456789" * 10)
open("model.onnx", "wb").write(model.SerializeToString())
