"""A domain that is imported twice, under both of its names."""

import onnx

onnx.save(onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 16, "ai.onnx" : 16]>
g (float[2,4] x) => (float[2,4] y) { [relu] y = Relu(x) }
"""), "model.onnx")
