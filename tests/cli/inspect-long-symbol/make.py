"""Makes a model with a formula as symbol of a dimension."""

from onnx import TensorProto, helper, save

formula = "floor(floor(height/2 - 1/2)/2) + 1"
node = helper.make_node("Relu", ["x"], ["y"])
ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", formula]) for name in "xy"]
graph = helper.make_graph([node], "g", ports[:1], ports[1:])
save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), "model.onnx")
