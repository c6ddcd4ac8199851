"""Makes models that are equalized for blocks, and one without anything to equalize."""

import cli_models
import numpy as np
import onnx

np.save("x.npy", cli_models.smooth_net())

# Nothing to equalize, and no bias to correct.
shape = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 4]) for name in ("x", "y")]
weight = onnx.numpy_helper.from_array(np.linspace(-1, 1, 16, dtype="f4").reshape(4, 4), "w")
graph = onnx.helper.make_graph([onnx.helper.make_node("MatMul", ["x", "w"], ["y"], "only")], "g", shape[:1], shape[1:], [weight])
onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), "only.onnx")
np.save("row.npy", np.linspace(-2, 2, 48, dtype="f4").reshape(12, 4))
