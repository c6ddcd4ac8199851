"""Two convolutions that share a weight and break rules of XINT8, one of a scale that is no power of two."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def pair(name, scale, out):
    return [
        helper.make_node("QuantizeLinear", [name, f"{out}_scale", "zero"], [f"{out}_q"], name=f"{out}_Q"),
        helper.make_node("DequantizeLinear", [f"{out}_q", f"{out}_scale", "zero"], [out], name=f"{out}_DQ"),
    ], numpy_helper.from_array(np.float32(scale), f"{out}_scale")


first, first_scale = pair("x", 0.1, "x_d")
last, last_scale = pair("y", 2.0**-3, "y_d")
second, second_scale = pair("p", 2.0**4, "z")
graph = helper.make_graph(
    [
        *first,
        helper.make_node("DequantizeLinear", ["w", "w_scale", "zero"], ["w_d"], name="w_DQ"),
        helper.make_node("Conv", ["x_d", "w_d"], ["y"], name="conv"),
        *last,
        helper.make_node("Conv", ["y_d", "w_d"], ["p"], name="wide"),
        *second,
    ],
    "target",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 4, 4])],
    [helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 2, 4, 4])],
    [
        first_scale, last_scale, second_scale,
        numpy_helper.from_array(np.int8(0), "zero"),
        numpy_helper.from_array(np.ones((2, 2, 1, 1), np.int8), "w"),
        numpy_helper.from_array(np.float32(2.0**-10), "w_scale"),
    ],
)  # fmt: skip
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
floats = helper.make_graph(
    [helper.make_node("Relu", ["x"], ["y"], name="relu")], "float",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
)  # fmt: skip
onnx.save(helper.make_model(floats, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "float.onnx")
