"""Two networks: products of matrices with a Softmax between them; two convolutions whose channels differ."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

rng = np.random.default_rng(5)


def save(name, nodes, weights, shape, out):
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("x", 1, shape)],
        [helper.make_tensor_value_info("y", 1, out)],
        [numpy_helper.from_array(value.astype(np.float32), key) for key, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, f"{name}.onnx")


def node(kind, inputs, output):
    return helper.make_node(kind, inputs.split(), [output], name=kind.lower() + output)


save(
    "products",
    [
        node("MatMul", "x w", "a"),
        node("Add", "a v", "b"),
        node("Softmax", "b", "c"),
        node("MatMul", "c w", "d"),
        node("Tanh", "d", "y"),
    ],
    {"w": rng.standard_normal((8, 8)), "v": rng.standard_normal(8)},
    [4, 8],
    [4, 8],
)

first, second = rng.standard_normal((4, 3, 3, 3)), rng.standard_normal((4, 4, 3, 3)) / 6
scales = np.array([1, 4, 16, 64.0])
save(
    "pictures",
    [
        node("Conv", "x w", "a"),
        node("Relu", "a", "b"),
        node("Conv", "b v", "c"),
        node("Sigmoid", "c", "d"),
        node("Mul", "c d", "e"),
        node("GlobalAveragePool", "e", "y"),
    ],
    {"w": first * scales[:, None, None, None], "v": second / scales[None, :, None, None]},
    [1, 3, 12, 12],
    [1, 4, 1, 1],
)
