"""A call of a function that leaves out what a node of its body needs."""

import onnx

onnx.save(onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
g (float[2] x) => (float[2] y)
{ [call] y = local.Least(x) }
<domain: "local", opset_import: ["" : 17]>
Least (a, b) => (c) { c = Min(a, b) }
"""), "model.onnx")
