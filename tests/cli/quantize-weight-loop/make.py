"""A step of a recurrent network outside of the loop that does the other steps: the weight is both's."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIDE = 160
random = np.random.default_rng(7)
weight = numpy_helper.from_array((random.normal(size=(SIDE, SIDE)) / 13).astype("f4"), "both")


def port(name, shape, elem=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, elem, shape)


body = helper.make_graph(
    [
        helper.make_node("Identity", ["go"], ["on"]),
        helper.make_node("MatMul", ["state", "carried"], ["m"], "inner"),
        helper.make_node("Sigmoid", ["m"], ["next"], "inner gate"),
        helper.make_node("Identity", ["carried"], ["kept"]),
    ],
    "body",
    [port("i", [], TensorProto.INT64), port("go", [], TensorProto.BOOL), port("state", [1, SIDE]), port("carried", [SIDE, SIDE])],
    [port("on", [], TensorProto.BOOL), port("next", [1, SIDE]), port("kept", [SIDE, SIDE])],
)
nodes = [
    helper.make_node("MatMul", ["x", "both"], ["a"], "outer"),
    helper.make_node("Sigmoid", ["a"], ["s"], "outer gate"),
    helper.make_node("Loop", ["rounds", "", "s", "both"], ["y", "z"], "loop", body=body),
]
rounds = numpy_helper.from_array(np.array(3), "rounds")
graph = helper.make_graph(nodes, "twice", [port("x", [1, SIDE])], [port("y", [1, SIDE])], [weight, rounds])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
np.save("x.npy", random.normal(size=(16, SIDE)).astype("f4"))
