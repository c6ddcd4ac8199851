"""Makes a detector that ends with NonMaxSuppression: how many boxes come out depends on scores."""

import cli_models
import numpy as np
from onnx import TensorProto, helper

BOXES = 24
node = helper.make_node
nodes = [
    node("MatMul", ["x", "wb"], ["b"], "corners"),
    node("Sigmoid", ["b"], ["s"], "within"),
    node("Reshape", ["s", "box_shape"], ["boxes"], "boxes"),
    node("MatMul", ["x", "ws"], ["t"], "classes"),
    node("Reshape", ["t", "score_shape"], ["scores"], "scores"),
    node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], ["chosen"], "suppress", center_point_box=1),
    node("Gather", ["chosen", "last"], ["place"], "place", axis=1),
    node("Gather", ["boxes", "place"], ["found"], "found", axis=1),
    node("GatherND", ["scores", "chosen"], ["sure"], "sure"),
]
weights = [
    cli_models.tensor("wb", 2 * cli_models.numbers(8, 4 * BOXES)),
    cli_models.tensor("ws", cli_models.numbers(8, BOXES)),
    cli_models.tensor("box_shape", np.array([1, BOXES, 4])),
    cli_models.tensor("score_shape", np.array([1, 1, BOXES])),
    cli_models.tensor("most", np.array([10])),
    cli_models.tensor("overlap", np.array([0.5], np.float32)),
    cli_models.tensor("least", np.array([0.25], np.float32)),
    cli_models.tensor("last", np.array(2)),
]
outputs = [helper.make_tensor_value_info("found", TensorProto.FLOAT, [1, "n", 4]), helper.make_tensor_value_info("sure", TensorProto.FLOAT, ["n"])]
cli_models.save(helper.make_graph(nodes, "net", [cli_models.value("x", [1, 8])], outputs, weights))
np.save("x.npy", np.random.default_rng(3).normal(size=(32, 8)).astype(np.float32))
